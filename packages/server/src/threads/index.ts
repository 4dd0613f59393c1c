/** What other domains may use of threads. */
export { changeThread } from './change-thread.ts';
export { initializationChange, reinitialize } from './initialization.ts';
export { withParticipant } from './participants.ts';
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
export { ErrorTrackerIssue, RUN_STATUSES, Thread, WORKSPACE_STATUSES } from './schemas.ts';
export { startThread } from './start-thread.ts';
export type { Creator, NewThread } from './start-thread.ts';
export {
  clearActiveBuild,
  delayArchive,
  endIdleTimes,
  expireIdle,
  holdPullRequests,
  markThreadsPurged,
  nextMessageSequence,
  setInitializationPhase,
  setWorkspaceSource,
  writeThread,
} from './store.ts';
export type { ThreadChange } from './store.ts';
export { leaveTask, publishTask } from './task.ts';
export { activeDurationMs, viewThread } from './view.ts';
