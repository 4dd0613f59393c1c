export { changeThread } from './change-thread.ts';
export type { ThreadChange } from './store.ts';
export {
  archived,
  loadThread,
  lockThread,
  lockThreadById,
  occupation,
  requireIdle,
  requireOpen,
  requireUnoccupied,
} from './policy.ts';
export type { LoadedThread } from './policy.ts';
export { activeDurationMs, viewThread } from './view.ts';
export { RUN_STATUSES, Thread, WORKSPACE_STATUSES } from './schemas.ts';
export { reinitialize, withParticipant } from './reinitialize.ts';
export { ErrorTrackerIssue, ExecutionTarget } from './schemas.ts';
export {
  clearActiveBuild,
  delayArchive,
  nextMessageSequence,
  setInitializationPhase,
  setWorkspaceSource,
  threadDetails,
} from './store.ts';
export { threadView } from './view.ts';
