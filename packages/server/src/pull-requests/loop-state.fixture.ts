import type { LoopState } from './loop-state.ts';

/** A loop that has looked at a head, after one pass. */
export const newLoopState = (now: Date): LoopState => ({
  auto_merge: false,
  status: 'observing',
  disabled_by: null,
  head_sha: 'a'.repeat(40),
  last_processed_head_sha: null,
  last_observed_at: null,
  wait_until: null,
  last_fix_run_id: null,
  last_error_code: null,
  last_error_message: null,
  blocked_reason: null,
  pass_count: 1,
  operational_retry_count: 0,
  status_since: now,
  head_seen_at: now,
  unknown_since: null,
  refused_summary: null,
});
