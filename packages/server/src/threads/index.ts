export { changeThread } from './change-thread.ts';
export type { ThreadChange } from './change-thread.ts';
export { loadThread, lockThread, lockThreadById, occupation, requireIdle, requireOpen, requireUnoccupied } from './policy.ts';
export type { LoadedThread } from './policy.ts';
export { activeDurationMs, viewThread } from './view.ts';
export { RUN_STATUSES, Thread, WORKSPACE_STATUSES } from './schemas.ts';
