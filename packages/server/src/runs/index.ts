export { cancelRuns, failQueuedRuns } from './cancel-runs.ts';
export { queueRun, threadKey } from './queue-run.ts';
export { runToJoin } from './steering.ts';
export type { Attempt, RepairResult, Repairs } from './repair/repair.ts';
export { hasMarkers } from './repair/markers.ts';
export { resumeRun } from './resume-run.ts';
export { Run, Tool } from './schemas.ts';
export { runView, toolView } from './view.ts';
