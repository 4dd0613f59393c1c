export { changeThread } from './change-thread.ts';
export type { ThreadChange } from './store.ts';
export {
  archived,
  isIdle,
  loadThread,
  lockThread,
  lockThreadById,
  requireIdle,
  requireOpen,
  requireUnoccupied,
} from './policy.ts';
export type { LoadedThread } from './policy.ts';
export { activeDurationMs, viewThread } from './view.ts';
export { RUN_STATUSES, Thread, WORKSPACE_STATUSES } from './schemas.ts';
export { initializationChange, reinitialize } from './initialization.ts';
export { withParticipant } from './participants.ts';
export { ErrorTrackerIssue, ExecutionTarget } from './schemas.ts';
export {
  clearActiveBuild,
  delayArchive,
  markThreadDeleted,
  nextMessageSequence,
  setInitializationPhase,
  setWorkspaceSource,
  threadDetails,
} from './store.ts';
export { threadView } from './view.ts';
