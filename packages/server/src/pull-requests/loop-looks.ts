/**
 * How a look at the provider changes a review loop. LOOK_ROWS is the table: the first row that fits decides, and
 * is applied until no row changes the loop.
 */
import { isDeepStrictEqual } from 'node:util';
import type { ScmSummary } from '../db/schema.ts';
import {
  after,
  ENABLED,
  ERROR_SECONDS,
  NEW_PASSES,
  OPEN,
  PROVIDER_FAULTS,
  REFUSED_SECONDS,
  RETRY_SECONDS,
  STUCK,
  to,
} from './loop-state.ts';
import type { LoopChange, LoopState, LoopStatus } from './loop-state.ts';

/** The outcome of the current pass. */
export type PassOutcome =
  | { is: 'running' }
  | { is: 'changed' }
  | { is: 'unchanged' }
  | { is: 'stopped' }
  /** An update from the base that did not end as `done`. */
  | { is: 'conflicted' }
  /** A run that was lost through no fault of its own. `retryAt`: the time of its retry; null: not decided yet. */
  | { is: 'lost'; code: string; message: string; retryAt: Date | null }
  | { is: 'failed'; code: string };

/** What a look found, for an open pull request whose loop is enabled. */
export interface LoopLook {
  now: Date;
  headSha: string;
  /** Whether the head was pushed for a pass of this loop. */
  isOwnHead: boolean;
  /** Also `pending` while the thread has changes that its branch lacks. */
  push: 'current' | 'pending' | 'diverged' | 'failed';
  isIdle: boolean;
  summary: ScmSummary;
  /** The number of review threads whose last comment is in no pass. */
  pointCount: number;
  /** When the newest run of a user's message completed after the loop got stuck or its pass ended. */
  userRunCompletedAt: Date | null;
  /** The outcome of the current pass; null in every status except `fixing`. */
  pass: PassOutcome | null;
  /** When its run ended; null for an update from the base. */
  passEndedAt: Date | null;
  /** Lost runs of the current pass for which a retry was decided. */
  lostRuns: number;
  /** Why no pass can begin; null: one can. Read only if something is wrong. */
  refusal: 'spend_limit' | 'not_configured' | null;
  /** Whether the loop may start anything new; a current pass ends as usual. */
  mayBegin: boolean;
  maxPasses: number;
  graceSeconds: number;
  timeoutSeconds: number;
}

/** What a status requires in addition to being stored. */
export type LoopAct =
  /** A pass begins: an update if the base conflicts, else a message. */
  | 'pass'
  /** The pass's run was lost and is retried after `retryInSeconds`. */
  | { retryInSeconds: number }
  | 'retry'
  | 'merge';

const UNKNOWN_SECONDS = 60;
/** The most rows that one look applies. */
const MAX_ROWS = 8;

/** The statuses behind each name in the table's first column. */
const FROM = {
  'any enabled': ENABLED,
  'any but fixing': ENABLED.filter((status) => status !== 'fixing'),
  open: OPEN,
  'open, or blocked (merge_refused)': [...OPEN, 'blocked'],
  'open, blocked': [...OPEN, 'blocked'],
  'blocked, error': STUCK,
  waiting_checks: ['waiting_checks'],
  finalizing: ['finalizing'],
  fixing: ['fixing'],
  'blocked (diverged, push_failed)': ['blocked'],
  'blocked (merge_refused)': ['blocked'],
  error: ['error'],
} as const satisfies Record<string, readonly LoopStatus[]>;

interface LookRow {
  from: keyof typeof FROM;
  /** For readers; `fits` decides. */
  when: string;
  fits(loop: LoopState, look: LoopLook): boolean;
  to: LoopStatus | 'same';
  /** The reason of `blocked`. */
  reason?: string;
  /** For readers: what else happens. */
  also?: string;
  change?(loop: LoopState, look: LoopLook): LoopChange;
  act?(loop: LoopState): LoopAct;
}

const isWrong = ({ summary, pointCount }: LoopLook): boolean =>
  summary.checks.failing > 0 || summary.mergeable === 'conflicting' || pointCount > 0;

const isBusy = (loop: LoopState, look: LoopLook): boolean =>
  look.summary.checks.running > 0 ||
  isGrace(loop, look) ||
  (look.summary.mergeable === 'unknown' && look.now < after(loop.unknown_since!, UNKNOWN_SECONDS)) ||
  look.push === 'pending' ||
  !look.isIdle;

/** Whether no check has appeared yet, and one still may. */
const isGrace = (loop: LoopState, { now, summary, graceSeconds }: LoopLook): boolean =>
  summary.checks.total === 0 && now < after(loop.head_seen_at!, graceSeconds);

/** The end of the wait for the first check, or else for the last one. */
const deadlineOf = (loop: LoopState, look: LoopLook): Date =>
  after(loop.head_seen_at!, isGrace(loop, look) ? look.graceSeconds : look.timeoutSeconds);

/** Whether the wait, for checks or after a refused merge, is over. */
const isOver = (loop: LoopState, look: LoopLook): boolean =>
  loop.blocked_reason === 'merge_refused'
    ? look.now >= after(loop.status_since, REFUSED_SECONDS)
    : loop.status === 'waiting_checks' && look.now >= deadlineOf(loop, look);

const isGreen = (loop: LoopState, look: LoopLook): boolean => !isWrong(look) && !isBusy(loop, look);

/** Whether something is wrong and a pass is due. */
const isDue = (loop: LoopState, look: LoopLook): boolean =>
  (loop.status !== 'blocked' || loop.blocked_reason === 'merge_refused') &&
  isWrong(look) &&
  (!isBusy(loop, look) || (isOver(loop, look) && look.isIdle));

const isPushBlocked = (loop: LoopState): boolean =>
  loop.blocked_reason === 'diverged' || loop.blocked_reason === 'push_failed';

const seen = ({ headSha, summary, now }: LoopLook): LoopChange => ({
  head_sha: headSha,
  head_seen_at: now,
  unknown_since: summary.mergeable === 'unknown' ? now : null,
});

const NEEDS = 'wrong; not busy, or the wait is over and the thread is idle';

export const LOOK_ROWS: readonly LookRow[] = [
  {
    from: 'blocked, error',
    when: "a run of a user's message has completed",
    fits: (loop, { userRunCompletedAt: at }) => at !== null && at > loop.status_since,
    to: 'observing',
    also: '`passCount` resets',
    change: () => NEW_PASSES,
  },
  {
    from: 'error',
    when: 'the provider answers again, or 300 s have passed',
    fits: ({ last_error_code: code, wait_until: until }, { now }) =>
      PROVIDER_FAULTS.some((fault) => fault === code) || until === null || now >= until,
    to: 'observing',
  },
  {
    from: 'any but fixing',
    when: 'the head has moved',
    fits: (loop, { headSha }) => headSha !== loop.head_sha || loop.head_seen_at === null,
    to: 'observing',
    also: '`passCount` resets, unless the loop pushed the new head',
    change: (loop, look) => ({
      ...seen(look),
      ...(loop.head_sha !== null && look.headSha !== loop.head_sha && !look.isOwnHead
        ? { pass_count: 0 }
        : {}),
    }),
  },
  {
    from: 'any enabled',
    when: 'the push has diverged',
    fits: (_, { push }) => push === 'diverged',
    to: 'blocked',
    reason: 'diverged',
  },
  {
    from: 'any enabled',
    when: 'the push has failed',
    fits: (_, { push }) => push === 'failed',
    to: 'blocked',
    reason: 'push_failed',
  },
  {
    from: 'blocked (diverged, push_failed)',
    when: 'the push is current',
    fits: (loop, { push }) => isPushBlocked(loop) && push === 'current',
    to: 'observing',
  },
  {
    from: 'blocked (diverged, push_failed)',
    when: 'the push is pending',
    fits: isPushBlocked,
    to: 'same',
  },
  {
    from: 'any but fixing',
    when: 'the credential may not see checks',
    fits: (_, { summary }) => !summary.checksAvailable,
    to: 'blocked',
    reason: 'checks_unavailable',
  },
  {
    from: 'waiting_checks',
    when: 'the wait is over; checks are still running, and nothing is wrong',
    fits: (loop, look) => isOver(loop, look) && look.summary.checks.running > 0 && !isWrong(look),
    to: 'blocked',
    reason: 'checks_timeout',
  },
  {
    from: 'open, or blocked (merge_refused)',
    when: `${NEEDS}; no passes are left`,
    fits: (loop, look) => isDue(loop, look) && loop.pass_count >= look.maxPasses,
    to: 'blocked',
    reason: 'pass_limit',
  },
  {
    from: 'open, or blocked (merge_refused)',
    when: `${NEEDS}; a spend limit or budget is used up`,
    fits: (loop, look) => isDue(loop, look) && look.refusal === 'spend_limit',
    to: 'blocked',
    reason: 'spend_limit',
  },
  {
    from: 'open, or blocked (merge_refused)',
    when: `${NEEDS}; no agent is configured for the pass`,
    fits: (loop, look) => isDue(loop, look) && look.refusal === 'not_configured',
    to: 'blocked',
    reason: 'not_configured',
  },
  {
    from: 'open, or blocked (merge_refused)',
    when: NEEDS,
    fits: isDue,
    to: 'fixing',
    also: 'a pass begins; `passCount` goes up by one',
    change: (loop) => ({ pass_count: loop.pass_count + 1, refused_summary: null }),
    act: () => 'pass',
  },
  {
    from: 'open',
    when: 'busy',
    fits: isBusy,
    to: 'waiting_checks',
    also: 'it waits up to 60 s for the first check and up to an hour for all of them, from when the head was first seen',
    change: (loop, look) => ({ wait_until: deadlineOf(loop, look) }),
  },
  {
    from: 'blocked (merge_refused)',
    when: 'green, with `autoMerge`; nothing has changed since the refusal, for up to 900 s',
    fits: (loop, look) =>
      isGreen(loop, look) &&
      loop.blocked_reason === 'merge_refused' &&
      loop.auto_merge &&
      look.summary.unresolvedCount === 0 &&
      look.now < after(loop.status_since, REFUSED_SECONDS) &&
      isDeepStrictEqual(look.summary, loop.refused_summary),
    to: 'same',
  },
  {
    from: 'open, blocked',
    when: 'green, without `autoMerge`',
    fits: (loop, look) => isGreen(loop, look) && !loop.auto_merge,
    to: 'ready',
  },
  {
    from: 'open, blocked',
    when: 'green, with `autoMerge`; something is unresolved',
    fits: (loop, look) => isGreen(loop, look) && look.summary.unresolvedCount > 0,
    to: 'blocked',
    reason: 'unresolved_comments',
  },
  {
    from: 'finalizing',
    when: 'green, and in the merge queue of the provider',
    fits: (loop, look) => isGreen(loop, look) && look.summary.mergeQueued,
    to: 'same',
  },
  {
    from: 'finalizing',
    when: 'green',
    fits: isGreen,
    to: 'same',
    also: 'a draft is marked ready for review; then it is merged',
    act: () => 'merge',
  },
  {
    from: 'open, blocked',
    when: 'green, with `autoMerge`',
    fits: isGreen,
    to: 'finalizing',
    change: () => ({ refused_summary: null }),
  },
  {
    from: 'fixing',
    when: 'its run has made a change, and the change is pushed',
    fits: (_, { pass, push }) => pass?.is === 'changed' && push === 'current',
    to: 'observing',
    also: 'each point in the pass gets a reply',
    change: (_, look) => seen(look),
  },
  {
    from: 'fixing',
    when: 'its run has made no change, and the head has moved',
    fits: (loop, { pass, headSha }) => pass?.is === 'unchanged' && headSha !== loop.head_sha,
    to: 'observing',
  },
  {
    from: 'fixing',
    when: 'its run has made no change',
    fits: (_, { pass }) => pass?.is === 'unchanged',
    to: 'blocked',
    reason: 'no_change',
  },
  {
    from: 'fixing',
    when: 'a person has stopped its run',
    fits: (_, { pass }) => pass?.is === 'stopped',
    to: 'blocked',
    reason: 'stopped',
  },
  {
    from: 'fixing',
    when: 'the update from the base has failed',
    fits: (_, { pass }) => pass?.is === 'conflicted',
    to: 'blocked',
    reason: 'merge_conflict',
  },
  {
    from: 'fixing',
    when: 'its run was lost for the fourth time',
    fits: (_, { pass, lostRuns }) =>
      pass?.is === 'lost' && pass.retryAt === null && lostRuns >= RETRY_SECONDS.length,
    to: 'error',
    also: "the error is the run's; the loop looks again after 300 s",
    change: (_, { pass, now }) => ({
      ...(pass?.is === 'lost' ? { last_error_code: pass.code, last_error_message: pass.message } : {}),
      wait_until: after(now, ERROR_SECONDS),
    }),
  },
  {
    from: 'fixing',
    when: 'its run was lost',
    fits: (_, { pass }) => pass?.is === 'lost' && pass.retryAt === null,
    to: 'same',
    also: 'the run is retried after 30, 60 and 120 s',
    change: (_, { now, lostRuns }) => ({
      operational_retry_count: lostRuns + 1,
      wait_until: after(now, RETRY_SECONDS[lostRuns]!),
    }),
    act: ({ operational_retry_count: count }) => ({ retryInSeconds: RETRY_SECONDS[count - 1]! }),
  },
  {
    from: 'fixing',
    when: 'its run was lost, the retry is due and the thread is idle',
    fits: (_, { pass, now, isIdle }) =>
      pass?.is === 'lost' && pass.retryAt !== null && now >= pass.retryAt && isIdle,
    to: 'same',
    also: 'the run is retried',
    change: () => ({ wait_until: null }),
    act: () => 'retry',
  },
  {
    from: 'fixing',
    when: 'its run has reached a spend limit',
    fits: (_, { pass }) => pass?.is === 'failed' && pass.code === 'spend_limit_reached',
    to: 'blocked',
    reason: 'spend_limit',
  },
  {
    from: 'fixing',
    when: 'its run has failed',
    fits: (_, { pass }) => pass?.is === 'failed',
    to: 'blocked',
    reason: 'fix_failed',
  },
];

/** The columns that a successful look changes, and the act that follows. */
export function loopAfterLook(before: LoopState, look: LoopLook): { change: LoopChange; act?: LoopAct } {
  const first: LoopChange = {
    last_observed_at: look.now,
    unknown_since: look.summary.mergeable === 'unknown' ? (before.unknown_since ?? look.now) : null,
    operational_retry_count: look.lostRuns,
    wait_until: waitOf(before, look),
  };
  let loop = { ...before, ...first };
  let change = first;
  for (let n = 0; n < MAX_ROWS && (look.mayBegin || loop.status === 'fixing'); n++) {
    const row = rowOf(loop, look);
    if (!row) break;
    const step = stepOf(row, loop, look);
    const next = { ...loop, ...step };
    change = { ...change, ...step };
    if (row.act) return { change: { ...change, ...keptCount(before, row) }, act: row.act(next) };
    if (isDeepStrictEqual(keyOf(next), keyOf(loop))) break;
    loop = next;
  }
  return { change };
}

/** Keeps counting failed merges across the successful looks between them. */
const keptCount = (before: LoopState, row: LookRow): LoopChange =>
  before.status === 'finalizing' && row.to === 'same'
    ? { operational_retry_count: before.operational_retry_count }
    : {};

/** The first row that fits. */
export const rowOf = (loop: LoopState, look: LoopLook): LookRow | undefined =>
  LOOK_ROWS.find(
    (row) => (FROM[row.from] as readonly LoopStatus[]).includes(loop.status) && row.fits(loop, look),
  );

function stepOf(row: LookRow, loop: LoopState, look: LoopLook): LoopChange {
  const change = row.change?.(loop, look) ?? {};
  const reason = row.reason ?? null;
  if (row.to === 'same' || (row.to === loop.status && reason === loop.blocked_reason)) return change;
  return {
    ...to(loop, row.to, look.now, { blocked_reason: reason }),
    // A look may be late: a user's message may have had its run since.
    ...(row.from === 'fixing' ? { status_since: look.passEndedAt ?? look.now } : {}),
    ...(row.to === 'error' ? {} : { operational_retry_count: 0 }),
    ...change,
  };
}

/** What the next row may depend on. */
const keyOf = ({ status, blocked_reason: reason, head_sha: head, head_seen_at: at }: LoopState) => [
  status,
  reason,
  head,
  at?.getTime(),
];

/** When a loop that stays as it is acts even if nothing changes. A fault of the provider may have set a later time. */
function waitOf(loop: LoopState, { now, pass }: LoopLook): Date | null {
  if (loop.status === 'error') return loop.wait_until;
  if (loop.status === 'fixing') return pass?.is === 'lost' ? pass.retryAt : null;
  const until = loop.blocked_reason === 'merge_refused' ? after(loop.status_since, REFUSED_SECONDS) : null;
  return until !== null && until > now ? until : null;
}
