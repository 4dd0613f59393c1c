/**
 * The status of a review loop, as callers and the life of its pull request change it:
 *
 *   none, disabled   enable     observing   both of its counters begin anew
 *   blocked, error   enable     observing   its passes begin anew
 *   any              switchOff  disabled    by `user`
 *   any enabled      end        disabled    by `system`: merged, closed, out of reach, or its thread has ended
 *   any enabled      transfer   disabled    by `transferred`: another thread has the pull request now
 *
 * Any other status stays as it is.
 */
import type { ReviewLoopRow } from '../db/schema.ts';

export type LoopChange = Partial<
  Omit<ReviewLoopRow, 'id' | 'org_id' | 'pull_request_id' | 'thread_id' | 'created_at' | 'updated_at'>
>;
export type LoopEvent = 'enable' | 'switchOff' | 'end' | 'transfer';

const BY = { switchOff: 'user', end: 'system', transfer: 'transferred' } as const;

/** What belongs to one status alone. */
const CLEARED = {
  wait_until: null,
  blocked_reason: null,
  last_error_code: null,
  last_error_message: null,
} satisfies LoopChange;

/** The columns that an event changes; null: there is no loop yet. */
export function loopAfter(status: ReviewLoopRow['status'] | null, event: LoopEvent): LoopChange {
  const isOff = status === null || status === 'disabled';
  if (event !== 'enable')
    return isOff && event !== 'switchOff'
      ? {}
      : { ...CLEARED, enabled: false, status: 'disabled', disabled_by: BY[event] };
  if (!isOff && status !== 'blocked' && status !== 'error') return {};
  return {
    ...CLEARED,
    enabled: true,
    status: 'observing',
    disabled_by: null,
    pass_count: 0,
    ...(isOff ? { operational_retry_count: 0 } : {}),
  };
}

interface LoopChoice {
  enabled?: boolean;
  autoMerge?: boolean;
}

/**
 * The loop of a new pull request: as its caller asks, else as the settings say. Null where it is not enabled,
 * and nothing is to be kept for it.
 */
export function newLoop(asked: LoopChoice | undefined, settings: Required<LoopChoice>): LoopChange | null {
  const isEnabled = asked?.enabled ?? settings.enabled;
  if (!isEnabled && asked?.autoMerge !== true) return null;
  return {
    ...(isEnabled ? loopAfter(null, 'enable') : {}),
    auto_merge: asked?.autoMerge ?? settings.autoMerge,
  };
}
