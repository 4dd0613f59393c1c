export { cancelRuns, failQueuedRuns, finishRun } from './finish-run.ts';
export { queueRun, threadKey } from './queue-run.ts';
export { runToJoin } from './steering.ts';
export type { Attempt, RepairResult, Repairs } from './repair/repair.ts';
export { hasMarkers } from './repair/markers.ts';
export { runsDied, workRuns } from './run-work.job.ts';
export { Run, Tool } from './schemas.ts';
export { runView, toolView } from './view.ts';
