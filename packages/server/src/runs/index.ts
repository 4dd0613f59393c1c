export { beginThread } from './begin-thread.ts';
export { answerBegun, BEGUN, FirstMessage } from './begun-thread.ts';
export { cancelRuns, failQueuedRuns } from './cancel-runs.ts';
export { queueRestore } from './queue-restore.ts';
export { queueRun, threadKey } from './queue-run.ts';
export { repairAgent } from './repair/agent.ts';
export { attemptOf } from './repair/evidence.ts';
export type { Attempt, RepairResult, Repairs } from './repair/attempt.ts';
export { resumeRun } from './resume-run.ts';
export { Run, Tool } from './schemas.ts';
export { isCalling } from './state.ts';
export { runToJoin } from './steering.ts';
export {
  addCallToRun,
  addFailureToRun,
  callingRuns,
  keepPrices,
  openRuns,
  purgeRuns,
  purgeTools,
} from './store.ts';
export type { CallCost, CallFailure } from './store.ts';
export { runView, toolView } from './view.ts';
export { hasToken, runToken } from './token.ts';
