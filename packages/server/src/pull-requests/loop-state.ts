/**
 * The review loop of a pull request: every change of its status. The first line that fits decides. "Open" are
 * observing, waiting_checks, ready and finalizing. Reasons of `blocked` stand in brackets.
 *
 * As callers and the life of the pull request change it:
 *
 *   any                enable, and it is disabled or there is none   observing    both counters begin again
 *   blocked, error     enable                                        observing    its passes begin again
 *   any                switchOff                                     disabled     by `user`
 *   any enabled        end                                           disabled     by `system`: merged, closed, out of reach, or its thread has ended
 *   any enabled        transfer                                      disabled     by `transferred`: another thread has the pull request now
 *   finalizing         autoMerge off                                 ready
 *   ready              autoMerge on                                  finalizing, or blocked (unresolved_comments)
 *
 * As a look at the provider changes it. "Wrong": a check fails, the base conflicts, or a point was made. "Busy":
 * a check runs, none is known yet, nobody knows whether it can be merged, a push is pending, or the thread
 * works. "Green": neither. "Over": the wait for checks is over.
 *
 *   blocked, error     a run of a user's message has completed       observing    its passes begin again
 *   error              its time is over                              observing
 *   any but fixing     the head has moved                            observing    by another than its own push: its passes begin again
 *   any                the push has diverged, has failed             blocked      (diverged, push_failed)
 *   blocked            by these, and the push is current             observing
 *   any but fixing     checks cannot be seen                         blocked      (checks_unavailable)
 *   waiting_checks     over, checks run, nothing is wrong            blocked      (checks_timeout)
 *   open, merge_refused  wrong; not busy, or over and the thread is idle:
 *                        no pass is left, or none can begin          blocked      (pass_limit, spend_limit, not_configured)
 *                        else                                        fixing       the pass begins
 *   open               busy                                          waiting_checks
 *   open, blocked      green                                         finalizing, ready, or blocked (unresolved_comments)
 *   finalizing         green, still to be merged                     finalizing   it is merged
 *
 *   fixing             its run has changed something, pushed         observing
 *   fixing             its run has changed nothing                   blocked      (no_change); observing where the head has moved
 *   fixing             a person has stopped its run                  blocked      (stopped)
 *   fixing             the update from the base has failed           blocked      (merge_conflict)
 *   fixing             its run was lost                              fixing       it runs again after 30, 60, 120 s; then: error
 *   fixing             its run has failed, has spent all             blocked      (fix_failed, spend_limit)
 *
 * As the provider's answers change it:
 *
 *   finalizing         the merge is refused                          blocked      (merge_refused)
 *   any enabled        it fails                                      same         it is asked again after 30, 60, 120 s; then: error
 */
import { isDeepStrictEqual } from 'node:util';
import type { Mergeable, ReviewLoopRow, ScmSummary } from '../db/schema.ts';

export type LoopChange = Partial<
  Omit<ReviewLoopRow, 'id' | 'org_id' | 'pull_request_id' | 'thread_id' | 'created_at' | 'updated_at'>
>;
export type LoopStatus = ReviewLoopRow['status'];
/** What the next status depends on. */
export type LoopState = Omit<
  ReviewLoopRow,
  'id' | 'org_id' | 'pull_request_id' | 'thread_id' | 'created_at' | 'updated_at' | 'enabled' | 'merging_sha'
>;

/** How the pass under way is doing. */
export type PassOutcome =
  | { is: 'running' }
  | { is: 'changed' }
  | { is: 'unchanged' }
  | { is: 'stopped' }
  /** An update from the base that did not end as `done`. */
  | { is: 'conflicted' }
  /** A run that was lost through no fault of its own. `retryAt`: when it runs again; null: not decided yet. */
  | { is: 'lost'; code: string; message: string; retryAt: Date | null }
  | { is: 'failed'; code: string };

/** What a look found out, of an open pull request whose loop is enabled. */
export interface LoopLook {
  now: Date;
  headSha: string;
  /** Whether the head was pushed for a pass of this loop. */
  isOwnHead: boolean;
  /** `pending` also while the thread has what its branch lacks. */
  push: 'current' | 'pending' | 'diverged' | 'failed';
  isIdle: boolean;
  summary: ScmSummary;
  /** Review threads whose last comment no pass was told of. */
  pointCount: number;
  /** When the newest run of a user's message completed; null where none has. */
  userRunCompletedAt: Date | null;
  /** Of the pass under way; null in every status but `fixing`. */
  pass: PassOutcome | null;
  /** Whether runs of the pass under way were lost. */
  hasLostRuns: boolean;
  /** Why no pass could begin; null: one could. Read only where something is wrong. */
  refusal: 'spend_limit' | 'not_configured' | null;
  maxPasses: number;
  graceSeconds: number;
  timeoutSeconds: number;
}

/** What a status asks for, besides being written down. */
export type LoopAct =
  /** A pass begins: by an update from the base where that conflicts, else by a message. */
  | 'pass'
  /** The run of the pass that was lost is due again after `delaySeconds`. */
  | { retryInSeconds: number }
  | 'retry'
  | 'merge';

interface Step {
  change: LoopChange;
  act?: LoopAct;
}

/** How long after a fault the provider is asked, or a lost run begins, again: three times. */
const RETRY_SECONDS = [30, 60, 120];
const ERROR_SECONDS = 300;
const REFUSED_SECONDS = 900;
const UNKNOWN_SECONDS = 60;
const OPEN: readonly LoopStatus[] = ['observing', 'waiting_checks', 'ready', 'finalizing'];
/** Rows that follow each other in one look. */
const MAX_ROWS = 6;

/** What belongs to one status alone. */
const CLEARED = {
  wait_until: null,
  blocked_reason: null,
  last_error_code: null,
  last_error_message: null,
} satisfies LoopChange;

export type LoopEvent = 'enable' | 'switchOff' | 'end' | 'transfer';
const BY = { switchOff: 'user', end: 'system', transfer: 'transferred' } as const;

/** The columns that an event changes; null: there is no loop yet. */
export function loopAfter(status: LoopStatus | null, event: LoopEvent, now = new Date()): LoopChange {
  const isOff = status === null || status === 'disabled';
  if (event !== 'enable')
    return isOff && event !== 'switchOff'
      ? {}
      : { ...CLEARED, enabled: false, status: 'disabled', disabled_by: BY[event], status_since: now };
  if (!isOff && status !== 'blocked' && status !== 'error') return {};
  return {
    ...CLEARED,
    enabled: true,
    status: 'observing',
    status_since: now,
    disabled_by: null,
    pass_count: 0,
    // What it waits for, it waits for as long again.
    head_seen_at: null,
    refused_summary: null,
    ...(isOff ? { operational_retry_count: 0 } : {}),
  };
}

/** The columns that a caller's choice to merge by itself, or not to, changes. `unresolvedCount`: at the last look. */
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
        ? to(loop, 'finalizing', now)
        : to(loop, 'blocked', now, { blocked_reason: 'unresolved_comments' })),
    };
  return { auto_merge: autoMerge };
}

/** The columns that a good look changes, and what is to be done then. */
export function loopAfterLook(loop: LoopState, look: LoopLook): Step {
  const first: LoopChange = {
    last_observed_at: look.now,
    unknown_since: look.summary.mergeable === 'unknown' ? (loop.unknown_since ?? look.now) : null,
    // Runs of one pass that are lost are counted over all looks.
    ...(look.hasLostRuns ? {} : { operational_retry_count: 0 }),
  };
  let state = { ...loop, ...first };
  let change = first;
  for (let n = 0; n < MAX_ROWS; n++) {
    const step = rowOf(state, look);
    if (!step) break;
    state = { ...state, ...step.change };
    change = { ...change, ...step.change };
    if (step.act !== undefined) return { change, act: step.act };
  }
  return { change: { ...change, wait_until: waitOf(state, look) } };
}

/** When a loop looks again without news: a fault of the provider has put it off. */
function waitOf(state: LoopState, { pass }: LoopLook): Date | null {
  if (state.status === 'waiting_checks' || state.status === 'error') return state.wait_until;
  if (state.blocked_reason === 'merge_refused') return after(state.status_since, REFUSED_SECONDS);
  return state.status === 'fixing' && pass?.is === 'lost' ? pass.retryAt : null;
}

/** The row that fits; null: none, or it changes nothing. */
function rowOf(loop: LoopState, look: LoopLook): Step | null {
  const { status } = loop;
  const { now, userRunCompletedAt: userRun, headSha, push, summary } = look;
  const isStuck = status === 'blocked' || status === 'error';
  if (isStuck && userRun !== null && userRun > loop.status_since)
    return { change: to(loop, 'observing', now, { pass_count: 0, head_seen_at: null }) };
  if (status === 'error' && loop.wait_until !== null && now >= loop.wait_until)
    return { change: to(loop, 'observing', now) };
  if (status !== 'fixing' && (headSha !== loop.head_sha || loop.head_seen_at === null))
    return { change: headMoved(loop, look) };
  if (push === 'diverged' || push === 'failed')
    return block(loop, now, push === 'diverged' ? 'diverged' : 'push_failed');
  if (loop.blocked_reason === 'diverged' || loop.blocked_reason === 'push_failed')
    return push === 'current' ? { change: to(loop, 'observing', now) } : null;
  if (status === 'fixing') return fixingRow(loop, look);
  if (!summary.checksAvailable) return block(loop, now, 'checks_unavailable');
  return status === 'error' ? null : checksRow(loop, look);
}

function headMoved(loop: LoopState, { now, headSha, isOwnHead, summary }: LoopLook): LoopChange {
  const isByAnother = loop.head_sha !== null && headSha !== loop.head_sha && !isOwnHead;
  return to(loop, 'observing', now, {
    ...seen(headSha, summary.mergeable, now),
    ...(isByAnother ? { pass_count: 0 } : {}),
  });
}

const seen = (headSha: string, mergeable: Mergeable, now: Date): LoopChange => ({
  head_sha: headSha,
  head_seen_at: now,
  unknown_since: mergeable === 'unknown' ? now : null,
});

/** What follows from checks, points and the base. */
function checksRow(loop: LoopState, look: LoopLook): Step | null {
  const { status } = loop;
  const { now, summary } = look;
  const { checks } = summary;
  const isOpen = OPEN.includes(status);
  const isWrong = checks.failing > 0 || summary.mergeable === 'conflicting' || look.pointCount > 0;
  const isBusy = busy(loop, look);
  const deadline = deadlineOf(loop, look);
  const isOver = status === 'waiting_checks' && now >= deadline;
  if (isOver && checks.running > 0 && !isWrong) return block(loop, now, 'checks_timeout');
  if ((isOpen || loop.blocked_reason === 'merge_refused') && isWrong && (!isBusy || (isOver && look.isIdle)))
    return passRow(loop, look);
  if (isBusy) return isOpen ? waitRow(loop, now, deadline) : null;
  return isWrong ? null : greenRow(loop, look);
}

function busy(loop: LoopState, { now, summary, push, isIdle, graceSeconds }: LoopLook): boolean {
  const { checks, mergeable } = summary;
  return (
    checks.running > 0 ||
    (checks.total === 0 && now < after(loop.head_seen_at!, graceSeconds)) ||
    (mergeable === 'unknown' && now < after(loop.unknown_since!, UNKNOWN_SECONDS)) ||
    push === 'pending' ||
    !isIdle
  );
}

/** The end of the wait: for a first check, else for the last one. */
function deadlineOf(loop: LoopState, { now, summary, graceSeconds, timeoutSeconds }: LoopLook): Date {
  const grace = after(loop.head_seen_at!, graceSeconds);
  return summary.checks.total === 0 && now < grace ? grace : after(loop.head_seen_at!, timeoutSeconds);
}

function passRow(loop: LoopState, { now, maxPasses, refusal }: LoopLook): Step | null {
  if (loop.pass_count >= maxPasses) return block(loop, now, 'pass_limit');
  if (refusal !== null) return block(loop, now, refusal);
  const change = to(loop, 'fixing', now, { pass_count: loop.pass_count + 1, refused_summary: null });
  return { change, act: 'pass' };
}

function waitRow(loop: LoopState, now: Date, deadline: Date): Step | null {
  if (loop.status === 'waiting_checks')
    return loop.wait_until?.getTime() === deadline.getTime() ? null : { change: { wait_until: deadline } };
  return { change: to(loop, 'waiting_checks', now, { wait_until: deadline }) };
}

function greenRow(loop: LoopState, { now, summary }: LoopLook): Step | null {
  if (!loop.auto_merge) return loop.status === 'ready' ? null : { change: to(loop, 'ready', now) };
  if (summary.unresolvedCount > 0) return block(loop, now, 'unresolved_comments');
  if (loop.status === 'finalizing') return summary.mergeQueued ? null : { change: {}, act: 'merge' };
  const isRefused =
    loop.blocked_reason === 'merge_refused' &&
    now < after(loop.status_since, REFUSED_SECONDS) &&
    isDeepStrictEqual(summary, loop.refused_summary);
  return isRefused ? null : { change: to(loop, 'finalizing', now, { refused_summary: null }) };
}

/** What has become of the pass. */
function fixingRow(loop: LoopState, { now, pass, push, headSha, summary, isIdle }: LoopLook): Step | null {
  switch (pass?.is) {
    case undefined:
    case 'running':
      return null;
    case 'changed': {
      const fixed = { ...seen(headSha, summary.mergeable, now), operational_retry_count: 0 };
      return push === 'current' ? { change: to(loop, 'observing', now, fixed) } : null;
    }
    case 'unchanged':
      return headSha === loop.head_sha
        ? block(loop, now, 'no_change')
        : { change: to(loop, 'observing', now) };
    case 'stopped':
      return block(loop, now, 'stopped');
    case 'conflicted':
      return block(loop, now, 'merge_conflict');
    case 'failed':
      return block(loop, now, pass.code === 'spend_limit_reached' ? 'spend_limit' : 'fix_failed');
    case 'lost':
      return pass.retryAt === null
        ? lostRow(loop, now, pass)
        : now >= pass.retryAt && isIdle
          ? { change: { wait_until: null }, act: 'retry' }
          : null;
  }
}

function lostRow(loop: LoopState, now: Date, { code, message }: { code: string; message: string }): Step {
  const retryInSeconds = RETRY_SECONDS[loop.operational_retry_count];
  if (retryInSeconds === undefined) return { change: inError(loop, now, { code, message }) };
  const count = loop.operational_retry_count + 1;
  return {
    change: { operational_retry_count: count, wait_until: after(now, retryInSeconds) },
    act: { retryInSeconds },
  };
}

/** The columns that a refused merge changes. A conflict is what the next look finds wrong. */
export function loopAfterRefusal(
  loop: LoopState,
  { now, reason, summary }: { now: Date; reason: string; summary: ScmSummary | null },
): LoopChange {
  if (loop.status !== 'finalizing' || reason === 'conflicting') return {};
  return to(loop, 'blocked', now, {
    blocked_reason: 'merge_refused',
    refused_summary: summary,
    wait_until: after(now, REFUSED_SECONDS),
  });
}

/** The columns that a failed look, or another failed call of the provider, changes. */
export function loopAfterFault(
  loop: (LoopState & { enabled: boolean }) | null,
  fault: { code: 'unavailable' | 'access_denied' | 'repository_gone'; message: string },
  now = new Date(),
): LoopChange {
  if (!loop?.enabled) return {};
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

/** Blocked for a reason; null where it is already. */
const block = (loop: LoopState, now: Date, reason: string): Step | null =>
  loop.status === 'blocked' && loop.blocked_reason === reason
    ? null
    : { change: to(loop, 'blocked', now, { blocked_reason: reason }) };

/** The statuses for which a head counts as processed. */
const PROCESSED: readonly LoopStatus[] = ['fixing', 'finalizing', 'ready', 'blocked'];

const to = (
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

const after = (time: Date, seconds: number): Date => new Date(time.getTime() + seconds * 1_000);

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
