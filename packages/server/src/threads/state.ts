/**
 * The status of a thread follows from its rows, and is computed in every transaction that changes them. The
 * first line that holds decides:
 *
 *   archived   it was archived
 *   failed     its initialization failed
 *   waiting    its active run waits for an approval
 *   running    its active run runs (a repair too)
 *   blocked    an apply is queued, or a build is queued or building
 *   queued     its initialization is accepted or preparing, or a run is queued
 *   failed     its last ended run, repairs aside, failed, and neither a newer source nor an unarchiving followed
 *   ready      else
 *
 * The state of its initialization:
 *
 *   accepted, preparing   begin      preparing   its job is claimed
 *   preparing             complete   completed   its workspace is ready
 *   accepted, preparing   fail       failed      the attempts are used up; its queued runs fail
 *   accepted, preparing   cancel     cancelled   it was archived or deleted
 *   failed, cancelled     retry      accepted    the next retry or message
 *   failed                unarchive  cancelled   its thread is unarchived, and ready again
 */
import type { ThreadRow } from '../db/schema.ts';

export interface ThreadWork {
  /** The active run's status, null without one. */
  active: 'running' | 'waiting' | null;
  queuedRuns: number;
}

type Facts = Pick<
  ThreadRow,
  'archived_at' | 'initialization_state' | 'active_apply_id' | 'active_build_id' | 'last_run_failed'
>;

export function threadStatus(thread: Facts, work: ThreadWork): ThreadRow['status'] {
  if (thread.archived_at) return 'archived';
  if (thread.initialization_state === 'failed') return 'failed';
  if (work.active) return work.active;
  if (thread.active_apply_id || thread.active_build_id) return 'blocked';
  if (isInitializing(thread) || work.queuedRuns > 0) return 'queued';
  return thread.last_run_failed ? 'failed' : 'ready';
}

type InitializationState = ThreadRow['initialization_state'];
export type InitializationEvent = 'begin' | 'complete' | 'fail' | 'cancel' | 'retry' | 'unarchive';

const INITIALIZING = ['accepted', 'preparing'] as const satisfies InitializationState[];

const TRANSITIONS = {
  begin: { from: INITIALIZING, to: 'preparing' },
  complete: { from: ['preparing'], to: 'completed' },
  fail: { from: INITIALIZING, to: 'failed' },
  cancel: { from: INITIALIZING, to: 'cancelled' },
  retry: { from: ['failed', 'cancelled'], to: 'accepted' },
  unarchive: { from: ['failed'], to: 'cancelled' },
} as const satisfies Record<
  InitializationEvent,
  { from: readonly InitializationState[]; to: InitializationState }
>;

/** The state of an initialization after an event; null where it does not take the event. */
export function initializationAfter(
  state: InitializationState,
  event: InitializationEvent,
): InitializationState | null {
  const { from, to } = TRANSITIONS[event];
  return (from as readonly InitializationState[]).includes(state) ? to : null;
}

const isInitializing = (thread: Pick<ThreadRow, 'initialization_state'>): boolean =>
  (INITIALIZING as readonly InitializationState[]).includes(thread.initialization_state);
