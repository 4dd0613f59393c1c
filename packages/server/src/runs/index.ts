export { cancelRuns, failQueuedRuns, finishRun } from './finish-run.ts';
export { agentOf, queueRun, threadKey } from './queue-run.ts';
export { clean } from '../db/clean-text.ts';
export { runsDied, workRuns } from './run-work.job.ts';
export { Run, Tool } from './schemas.ts';
export { runView, toolView } from './view.ts';
