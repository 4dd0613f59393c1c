export { captureWorkspace, stageCapture } from './capture-workspace.ts';
export type { Capture } from './capture-workspace.ts';
export { changeWorkspace } from './change-workspace.ts';
export { freshDeadline } from './idle.ts';
export { prepareWorkspace, putBack, requireRunner, WorkspaceUnavailable } from './prepare-workspace.ts';
export { archiveWorkspace, enqueueArchive } from './archive-workspace.job.ts';
export { initializeThread } from './initialize-thread.job.ts';
export type { FailQueuedRuns } from './initialize-thread.job.ts';
export { sweepWorkspaces } from './sweep.ts';
