/**
 * A thread's status is a function of what stands in its rows, recomputed in every transaction that touches
 * them; the first line that holds decides:
 *
 *   archived   it was archived
 *   failed     its initialization failed
 *   waiting    its active run waits for an approval
 *   running    its active run runs (a repair too)
 *   blocked    an apply is queued, or a build is queued or building
 *   queued     its initialization is accepted or preparing, or a run is queued
 *   failed     its last ended run (repair apart) failed, and neither a newer source nor an unarchiving came since
 *   ready      else
 */
import type { ThreadRow } from '../db/schema.ts';

export type ThreadStatus = 'queued' | 'running' | 'waiting' | 'blocked' | 'ready' | 'failed' | 'archived';

export interface ThreadWork {
  /** The active run's status, null without one. */
  active: 'running' | 'waiting' | null;
  queuedRuns: number;
}

type Facts = Pick<
  ThreadRow,
  'archived_at' | 'initialization_state' | 'active_apply_id' | 'active_build_id' | 'last_run_failed'
>;

export function threadStatus(thread: Facts, work: ThreadWork): ThreadStatus {
  if (thread.archived_at) return 'archived';
  if (thread.initialization_state === 'failed') return 'failed';
  if (work.active) return work.active;
  if (thread.active_apply_id || thread.active_build_id) return 'blocked';
  if (
    thread.initialization_state === 'accepted' ||
    thread.initialization_state === 'preparing' ||
    work.queuedRuns > 0
  )
    return 'queued';
  return thread.last_run_failed ? 'failed' : 'ready';
}
