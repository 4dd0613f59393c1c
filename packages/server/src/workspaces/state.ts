/**
 * The status of a thread's workspace, which is null before its first preparation:
 *
 *   any but preparing        prepare   preparing         its initialization, or the next run or exec
 *   preparing                restore   ready
 *   any                      fail      error             the attempts are used up
 *   preparing                cancel    cancelled         its thread was archived or deleted
 *   ready, cleanup_pending   archive   archived          it is saved, and its runtime is gone
 *   ready                    detach    cleanup_pending   it is saved, and its runtime may live
 *   ready                    vanish    error             its runtime is gone; the last saved source counts
 *
 * and of its set-up, which other events leave as it is:
 *
 *   prepare   pending
 *   restore   ready, or failed where the app's setup failed (restore-with-setup.ts)
 *   fail      failed
 *
 * Meanwhile it is running while the workspace is made, and while it waits for the app's setup.
 */
import type { ThreadRow } from '../db/schema.ts';

export type WorkspaceStatus = ThreadRow['workspace_status'];
export type WorkspaceEvent = 'prepare' | 'restore' | 'fail' | 'cancel' | 'archive' | 'detach' | 'vanish';

interface WorkspaceChange {
  from: readonly WorkspaceStatus[];
  to: NonNullable<WorkspaceStatus>;
  setup?: NonNullable<ThreadRow['workspace_setup_status']>;
}

const UNPREPARED = [null, 'ready', 'archived', 'cleanup_pending', 'cancelled', 'error'] as const;

const TRANSITIONS: Record<WorkspaceEvent, WorkspaceChange> = {
  prepare: { from: UNPREPARED, to: 'preparing', setup: 'pending' },
  restore: { from: ['preparing'], to: 'ready', setup: 'ready' },
  fail: { from: [...UNPREPARED, 'preparing'], to: 'error', setup: 'failed' },
  cancel: { from: ['preparing'], to: 'cancelled' },
  archive: { from: ['ready', 'cleanup_pending'], to: 'archived' },
  detach: { from: ['ready'], to: 'cleanup_pending' },
  vanish: { from: ['ready'], to: 'error' },
};

/** The statuses in which a workspace takes an event, and what it leaves. */
export const workspaceChange = (event: WorkspaceEvent): WorkspaceChange => TRANSITIONS[event];
