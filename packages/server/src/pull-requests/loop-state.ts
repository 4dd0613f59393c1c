/**
 * The review loop of a pull request: how callers, the end of the pull request and the provider's faults change its
 * status. Looks at the provider change it by the rows of loop-looks.ts; loop-table.ts lists all changes.
 */
import type { PullRequestRow, ReviewLoopRow, ScmSummary } from '../db/schema.ts';

export type LoopChange = Partial<
  Omit<ReviewLoopRow, 'id' | 'org_id' | 'pull_request_id' | 'thread_id' | 'created_at' | 'updated_at'>
>;
export type LoopStatus = ReviewLoopRow['status'];
/** What the next status depends on. */
export type LoopState = Omit<
  ReviewLoopRow,
  | 'id'
  | 'org_id'
  | 'pull_request_id'
  | 'thread_id'
  | 'created_at'
  | 'updated_at'
  | 'enabled'
  | 'enabled_at'
  | 'merging_sha'
>;

export const LOOP_STATUSES = [
  'disabled',
  'observing',
  'waiting_checks',
  'fixing',
  'finalizing',
  'ready',
  'blocked',
  'error',
] as const satisfies LoopStatus[];

/** Delays of the three retries after a fault of the provider, and of a lost run. */
export const RETRY_SECONDS = [30, 60, 120];
export const ERROR_SECONDS = 300;
export const REFUSED_SECONDS = 900;
export const PROVIDER_FAULTS = ['unavailable', 'access_denied', 'repository_gone'] as const;

/** The loop waits, is green, or merges. */
export const OPEN = ['observing', 'waiting_checks', 'ready', 'finalizing'] as const satisfies LoopStatus[];
export const STUCK = ['blocked', 'error'] as const satisfies LoopStatus[];
export const ENABLED = LOOP_STATUSES.filter((status) => status !== 'disabled');

/** Columns that belong to one status only. */
const CLEARED = {
  wait_until: null,
  blocked_reason: null,
  last_error_code: null,
  last_error_message: null,
} satisfies LoopChange;

/** Resets the pass count and the wait for checks. */
export const NEW_PASSES = { pass_count: 0, head_seen_at: null } satisfies LoopChange;

export type LoopEvent = 'enable' | 'switchOff' | 'end' | 'transfer';
const BY = { switchOff: 'user', end: 'system', transfer: 'transferred' } as const;

/** The columns that an event changes; null: there is no loop yet. */
export function loopAfter(status: LoopStatus | null, event: LoopEvent, now = new Date()): LoopChange {
  const isOff = status === null || status === 'disabled';
  if (event !== 'enable')
    return isOff && event !== 'switchOff'
      ? {}
      : { ...CLEARED, enabled: false, status: 'disabled', disabled_by: BY[event], status_since: now };
  if (!isOff && !STUCK.some((one) => one === status)) return {};
  return {
    ...CLEARED,
    enabled: true,
    status: 'observing',
    status_since: now,
    disabled_by: null,
    ...NEW_PASSES,
    refused_summary: null,
    operational_retry_count: 0,
    ...(isOff ? { enabled_at: now } : {}),
  };
}

/** The columns that change when a caller sets `autoMerge`. `unresolvedCount` is from the last look. */
export function loopAfterChoice(
  loop: Pick<LoopState, 'status' | 'head_sha'> | null,
  autoMerge: boolean,
  { unresolvedCount, now = new Date() }: { unresolvedCount: number; now?: Date },
): LoopChange {
  if (loop?.status === 'finalizing' && !autoMerge) return { auto_merge: false, ...to(loop, 'ready', now) };
  if (loop?.status === 'ready' && autoMerge)
    return {
      auto_merge: true,
      ...(unresolvedCount === 0
        ? to(loop, 'finalizing', now, { refused_summary: null })
        : to(loop, 'blocked', now, { blocked_reason: 'unresolved_comments' })),
    };
  return { auto_merge: autoMerge };
}

/** The columns that change when a merge is refused for a reason that the next look does not find. */
export function loopAfterRefusal(
  loop: LoopState,
  { now, summary }: { now: Date; summary: ScmSummary | null },
): LoopChange {
  if (loop.status !== 'finalizing') return {};
  return to(loop, 'blocked', now, {
    blocked_reason: 'merge_refused',
    refused_summary: summary,
    wait_until: after(now, REFUSED_SECONDS),
  });
}

/**
 * The columns that change when a look, or another call of the provider, fails. A push that has failed or diverged
 * takes precedence, even if the provider does not answer.
 */
export function loopAfterFault(
  loop: (LoopState & { enabled: boolean }) | null,
  fault: { code: (typeof PROVIDER_FAULTS)[number]; message: string },
  { push, now = new Date() }: { push: PullRequestRow['push_status']; now?: Date },
): LoopChange {
  if (!loop?.enabled) return {};
  if (push === 'failed' || push === 'diverged') {
    const reason = push === 'failed' ? 'push_failed' : 'diverged';
    return loop.blocked_reason === reason ? {} : to(loop, 'blocked', now, { blocked_reason: reason });
  }
  const retryInSeconds = RETRY_SECONDS[loop.operational_retry_count];
  if (loop.status === 'error' || retryInSeconds === undefined) return inError(loop, now, fault);
  return {
    operational_retry_count: loop.operational_retry_count + 1,
    wait_until: after(now, retryInSeconds),
  };
}

const inError = (
  loop: Pick<LoopState, 'status' | 'status_since' | 'head_sha'>,
  now: Date,
  { code, message }: { code: string; message: string },
): LoopChange =>
  to(loop, 'error', now, {
    ...(loop.status === 'error' ? { status_since: loop.status_since } : {}),
    last_error_code: code,
    last_error_message: message,
    wait_until: after(now, ERROR_SECONDS),
  });

/** The statuses in which a head counts as processed. */
const PROCESSED: readonly LoopStatus[] = ['fixing', 'finalizing', 'ready', 'blocked'];

export const to = (
  loop: Pick<LoopState, 'head_sha'>,
  status: LoopStatus,
  now: Date,
  change: LoopChange = {},
): LoopChange => ({
  ...CLEARED,
  status,
  status_since: now,
  ...(PROCESSED.includes(status) ? { last_processed_head_sha: loop.head_sha } : {}),
  ...change,
});

export const after = (time: Date, seconds: number): Date => new Date(time.getTime() + seconds * 1_000);

interface LoopChoice {
  enabled?: boolean;
  autoMerge?: boolean;
}

/**
 * The loop of a new pull request: as its caller asks, else as the settings say. Null if it is not enabled and
 * there is nothing to store.
 */
export function newLoop(asked: LoopChoice | undefined, settings: Required<LoopChoice>): LoopChange | null {
  const isEnabled = asked?.enabled ?? settings.enabled;
  if (!isEnabled && asked?.autoMerge !== true) return null;
  return {
    ...(isEnabled ? loopAfter(null, 'enable') : {}),
    auto_merge: asked?.autoMerge ?? settings.autoMerge,
  };
}
