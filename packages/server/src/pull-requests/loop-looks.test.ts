import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ScmSummary } from '../db/schema.ts';
import { LOOK_ROWS, loopAfterLook, rowOf } from './loop-looks.ts';
import type { LoopLook, PassOutcome } from './loop-looks.ts';
import { newLoopState } from './loop-state.fixture.ts';
import { ENABLED, loopAfterFault } from './loop-state.ts';
import type { LoopChange, LoopState } from './loop-state.ts';

const now = new Date('2026-11-23T12:00:00.000Z');
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1_000);
const within = (seconds: number) => ago(-seconds);
const HEAD = 'a'.repeat(40);
const OTHER = 'b'.repeat(40);

const LOOP: LoopState = { ...newLoopState(now), status_since: ago(10), head_seen_at: ago(20) };
const checks = (failing: number, running: number, succeeded: number): ScmSummary['checks'] => ({
  total: failing + running + succeeded,
  failing,
  running,
  succeeded,
});
const SUMMARY: ScmSummary = {
  state: 'open',
  draft: false,
  mergeable: 'mergeable',
  mergeQueued: false,
  checks: checks(0, 0, 1),
  checksAvailable: true,
  commentsAvailable: true,
  unresolvedCount: 0,
};
/** Green. */
const LOOK: LoopLook = {
  now,
  headSha: HEAD,
  isOwnHead: false,
  push: 'current',
  isIdle: true,
  summary: SUMMARY,
  pointCount: 0,
  userRunCompletedAt: null,
  pass: null,
  passEndedAt: null,
  lostRuns: 0,
  refusal: null,
  mayBegin: true,
  maxPasses: 5,
  graceSeconds: 60,
  timeoutSeconds: 3_600,
};

type LookChange = Partial<Omit<LoopLook, 'summary'>> & { summary?: Partial<ScmSummary> };
const lookWith = ({ summary, ...change }: LookChange): LoopLook => ({
  ...LOOK,
  ...change,
  summary: { ...SUMMARY, ...summary },
});

const RED = { summary: { checks: checks(1, 0, 0) } };
const RUNNING = { summary: { checks: checks(0, 1, 0) } };
const REFUSED = { status: 'blocked', blocked_reason: 'merge_refused', refused_summary: SUMMARY } as const;
const FIXING = { status: 'fixing', pass_count: 2 } as const;
const pass = (outcome: PassOutcome): LookChange => ({ pass: outcome });
const lost = (retryAt: Date | null): PassOutcome => ({
  is: 'lost',
  code: 'sandbox_lost',
  message: 'gone',
  retryAt,
});

interface Walk {
  loop: Partial<LoopState>;
  look?: LookChange;
  /** The expected change of the loop. */
  gives: LoopChange;
  act?: unknown;
}

/** For each row of the table, by its text: a loop and a look that it is the first to fit, and the result. */
const WALKS: Record<string, Walk[]> = {
  "a run of a user's message has completed": [
    {
      loop: { status: 'blocked', blocked_reason: 'no_change', pass_count: 3 },
      look: { ...RED, userRunCompletedAt: ago(5) },
      gives: { status: 'fixing', pass_count: 1, blocked_reason: null },
      act: 'pass',
    },
    {
      loop: { status: 'error', last_error_code: 'worker_lost', wait_until: within(100) },
      look: { ...RUNNING, userRunCompletedAt: ago(5) },
      gives: { status: 'waiting_checks', pass_count: 0, last_error_code: null, wait_until: within(3_600) },
    },
  ],
  'the provider answers again, or 300 s have passed': [
    {
      loop: { status: 'error', last_error_code: 'unavailable', wait_until: within(100) },
      gives: { status: 'ready', last_error_code: null, last_error_message: null, wait_until: null },
    },
    {
      loop: { status: 'error', last_error_code: 'model_error', wait_until: now },
      look: RED,
      gives: { status: 'fixing', pass_count: 2 },
      act: 'pass',
    },
  ],
  'the head has moved': [
    {
      loop: { status: 'ready' },
      look: { ...RUNNING, headSha: OTHER },
      gives: { status: 'waiting_checks', pass_count: 0, head_sha: OTHER, wait_until: within(3_600) },
    },
    {
      loop: { status: 'blocked', blocked_reason: 'push_failed' },
      look: { ...RUNNING, headSha: OTHER, isOwnHead: true },
      gives: { status: 'waiting_checks', head_sha: OTHER, head_seen_at: now },
    },
    {
      loop: { status: 'error', last_error_code: 'model_error', wait_until: within(9) },
      look: { headSha: OTHER },
      gives: { status: 'ready', pass_count: 0, last_processed_head_sha: OTHER },
    },
    {
      loop: { head_sha: null, head_seen_at: null, pass_count: 0 },
      look: { summary: { checks: checks(0, 0, 0) } },
      gives: { status: 'waiting_checks', head_sha: HEAD, wait_until: within(60) },
    },
  ],
  'the push has diverged': [
    { loop: { status: 'finalizing' }, look: { push: 'diverged' }, gives: { blocked_reason: 'diverged' } },
    { loop: FIXING, look: { push: 'diverged' }, gives: { status: 'blocked', last_processed_head_sha: HEAD } },
  ],
  'the push has failed': [
    { loop: { status: 'ready' }, look: { push: 'failed' }, gives: { blocked_reason: 'push_failed' } },
    {
      loop: FIXING,
      look: { ...pass({ is: 'changed' }), push: 'failed' },
      gives: { status: 'blocked', blocked_reason: 'push_failed' },
    },
  ],
  'the push is current': [
    {
      loop: { status: 'blocked', blocked_reason: 'diverged' },
      look: RUNNING,
      gives: { status: 'waiting_checks', blocked_reason: null },
    },
  ],
  'the push is pending': [
    { loop: { status: 'blocked', blocked_reason: 'push_failed' }, look: { push: 'pending' }, gives: {} },
  ],
  'the credential may not see checks': [
    {
      loop: { status: 'waiting_checks' },
      look: { summary: { checksAvailable: false } },
      gives: { status: 'blocked', blocked_reason: 'checks_unavailable', wait_until: null },
    },
  ],
  'the wait is over; checks are still running, and nothing is wrong': [
    {
      loop: { status: 'waiting_checks', head_seen_at: ago(3_600) },
      look: RUNNING,
      gives: { status: 'blocked', blocked_reason: 'checks_timeout' },
    },
  ],
  'wrong; not busy, or the wait is over and the thread is idle; no passes are left': [
    { loop: { pass_count: 5 }, look: RED, gives: { status: 'blocked', blocked_reason: 'pass_limit' } },
    { loop: { ...REFUSED, pass_count: 7 }, look: RED, gives: { blocked_reason: 'pass_limit' } },
  ],
  'wrong; not busy, or the wait is over and the thread is idle; a spend limit or budget is used up': [
    {
      loop: { status: 'ready' },
      look: { ...RED, refusal: 'spend_limit' },
      gives: { status: 'blocked', blocked_reason: 'spend_limit', last_processed_head_sha: HEAD },
    },
  ],
  'wrong; not busy, or the wait is over and the thread is idle; no agent is configured for the pass': [
    {
      loop: {},
      look: { ...RED, refusal: 'not_configured' },
      gives: { status: 'blocked', blocked_reason: 'not_configured' },
    },
  ],
  'wrong; not busy, or the wait is over and the thread is idle': [
    { loop: {}, look: RED, gives: { status: 'fixing', pass_count: 2 }, act: 'pass' },
    { loop: REFUSED, look: RED, gives: { status: 'fixing', refused_summary: null }, act: 'pass' },
    {
      loop: { ...REFUSED, status_since: ago(900) },
      look: { summary: { checks: checks(1, 1, 0) } },
      gives: { status: 'fixing' },
      act: 'pass',
    },
    { loop: { status: 'ready' }, look: { pointCount: 1 }, gives: { status: 'fixing' }, act: 'pass' },
    {
      loop: { status: 'finalizing', auto_merge: true },
      look: { summary: { mergeable: 'conflicting' } },
      gives: { status: 'fixing', last_processed_head_sha: HEAD },
      act: 'pass',
    },
    {
      loop: { status: 'waiting_checks', head_seen_at: ago(3_600) },
      look: { summary: { checks: checks(1, 1, 0) } },
      gives: { status: 'fixing' },
      act: 'pass',
    },
  ],
  busy: [
    { loop: {}, look: RUNNING, gives: { status: 'waiting_checks', wait_until: within(3_580) } },
    { loop: {}, look: { push: 'pending' }, gives: { status: 'waiting_checks' } },
    { loop: {}, look: { ...RED, isIdle: false }, gives: { status: 'waiting_checks' } },
    {
      loop: { unknown_since: ago(59) },
      look: { summary: { mergeable: 'unknown' } },
      gives: { status: 'waiting_checks', unknown_since: ago(59) },
    },
    {
      loop: {},
      look: { summary: { checks: checks(0, 0, 0) } },
      gives: { status: 'waiting_checks', wait_until: within(40) },
    },
    {
      loop: { status: 'waiting_checks', wait_until: within(40) },
      look: { summary: { checks: checks(1, 1, 0) } },
      gives: { wait_until: within(3_580) },
    },
    {
      loop: { status: 'waiting_checks', head_seen_at: ago(3_600) },
      look: { ...RED, isIdle: false },
      gives: { wait_until: now },
    },
  ],
  'green, with `autoMerge`; nothing has changed since the refusal, for up to 900 s': [
    {
      loop: { ...REFUSED, auto_merge: true, status_since: ago(899) },
      gives: { wait_until: within(1) },
    },
  ],
  'green, without `autoMerge`': [
    { loop: {}, gives: { status: 'ready', last_processed_head_sha: HEAD } },
    { loop: { status: 'blocked', blocked_reason: 'fix_failed' }, gives: { status: 'ready' } },
    { loop: REFUSED, gives: { status: 'ready' } },
    {
      loop: { unknown_since: ago(60) },
      look: { summary: { mergeable: 'unknown' } },
      gives: { status: 'ready' },
    },
    {
      loop: { head_seen_at: ago(60) },
      look: { summary: { checks: checks(0, 0, 0) } },
      gives: { status: 'ready' },
    },
  ],
  'green, with `autoMerge`; something is unresolved': [
    {
      loop: { auto_merge: true, status: 'ready' },
      look: { summary: { unresolvedCount: 1 } },
      gives: { status: 'blocked', blocked_reason: 'unresolved_comments' },
    },
    {
      loop: { auto_merge: true, status: 'finalizing' },
      look: { summary: { unresolvedCount: 1 } },
      gives: { status: 'blocked' },
    },
  ],
  'green, and in the merge queue of the provider': [
    {
      loop: { auto_merge: true, status: 'finalizing', wait_until: within(30) },
      look: { summary: { mergeQueued: true } },
      gives: { wait_until: null },
    },
  ],
  green: [{ loop: { auto_merge: true, status: 'finalizing' }, gives: { wait_until: null }, act: 'merge' }],
  'green, with `autoMerge`': [
    { loop: { auto_merge: true }, gives: { status: 'finalizing' }, act: 'merge' },
    {
      loop: { ...REFUSED, auto_merge: true, status_since: ago(900) },
      gives: { status: 'finalizing', refused_summary: null, blocked_reason: null },
      act: 'merge',
    },
    {
      loop: { ...REFUSED, auto_merge: true },
      look: { summary: { checks: checks(0, 0, 2) } },
      gives: { status: 'finalizing' },
      act: 'merge',
    },
  ],
  'its run has made a change, and the change is pushed': [
    {
      loop: { ...FIXING, operational_retry_count: 2 },
      look: { ...pass({ is: 'changed' }), ...RUNNING, headSha: OTHER, lostRuns: 2 },
      gives: { status: 'waiting_checks', head_sha: OTHER, operational_retry_count: 0 },
    },
  ],
  'its run has made no change, and the head has moved': [
    {
      loop: FIXING,
      look: { ...pass({ is: 'unchanged' }), ...RUNNING, headSha: OTHER },
      gives: { status: 'waiting_checks', head_sha: OTHER, pass_count: 0 },
    },
  ],
  'its run has made no change': [
    {
      loop: FIXING,
      look: { ...pass({ is: 'unchanged' }), ...RED },
      gives: { status: 'blocked', blocked_reason: 'no_change', last_processed_head_sha: HEAD },
    },
  ],
  'a person has stopped its run': [
    { loop: FIXING, look: { ...pass({ is: 'stopped' }), ...RED }, gives: { blocked_reason: 'stopped' } },
  ],
  'the update from the base has failed': [
    {
      loop: FIXING,
      look: { ...pass({ is: 'conflicted' }), ...RED },
      gives: { status: 'blocked', blocked_reason: 'merge_conflict' },
    },
  ],
  'its run was lost for the fourth time': [
    {
      loop: { ...FIXING, operational_retry_count: 3 },
      look: { ...pass(lost(null)), lostRuns: 3 },
      gives: {
        status: 'error',
        last_error_code: 'sandbox_lost',
        last_error_message: 'gone',
        wait_until: within(300),
        operational_retry_count: 3,
      },
    },
  ],
  'its run was lost': [0, 1, 2].map((lostRuns) => {
    const retryInSeconds = [30, 60, 120][lostRuns]!;
    return {
      loop: { ...FIXING, operational_retry_count: lostRuns },
      look: { ...pass(lost(null)), lostRuns },
      gives: { wait_until: within(retryInSeconds), operational_retry_count: lostRuns + 1 },
      act: { retryInSeconds },
    };
  }),
  'its run was lost, the retry is due and the thread is idle': [
    { loop: FIXING, look: { ...pass(lost(now)), lostRuns: 1 }, gives: { wait_until: null }, act: 'retry' },
  ],
  'its run has reached a spend limit': [
    {
      loop: FIXING,
      look: { ...pass({ is: 'failed', code: 'spend_limit_reached' }), ...RED },
      gives: { status: 'blocked', blocked_reason: 'spend_limit' },
    },
  ],
  'its run has failed': [
    {
      loop: FIXING,
      look: {
        ...pass({ is: 'failed', code: 'timeout' }),
        ...RED,
        passEndedAt: ago(9),
        userRunCompletedAt: ago(9),
      },
      gives: { status: 'blocked', blocked_reason: 'fix_failed', status_since: ago(9) },
    },
    {
      loop: FIXING,
      look: {
        ...pass({ is: 'failed', code: 'timeout' }),
        ...RED,
        passEndedAt: ago(9),
        userRunCompletedAt: ago(2),
      },
      gives: { status: 'fixing', pass_count: 1 },
      act: 'pass',
    },
  ],
};

test('each row has walks', () => {
  expect(LOOK_ROWS.map(({ when }) => when)).toEqual(Object.keys(WALKS));
});

describe.each(LOOK_ROWS.map((row) => [`${row.from}: ${row.when}`, row] as const))('%s', (_, row) => {
  test.each(WALKS[row.when]!)('%j', ({ loop: change, look: seen = {}, gives, act }) => {
    const [loop, look] = [{ ...LOOP, ...change }, lookWith(seen)];
    expect(rowOf(loop, look)).toBe(row);
    const step = loopAfterLook(loop, look);
    expect(step.change).toMatchObject(gives);
    expect(step.act).toEqual(act);
    const { status = loop.status } = step.change;
    expect(status).toBe(gives.status ?? (gives.blocked_reason ? 'blocked' : status));
    expect({ ...loop, ...step.change }.blocked_reason !== null).toBe(status === 'blocked');
  });
});

test.each<[string, Partial<LoopState>, LookChange]>([
  ['is under way', FIXING, { ...pass({ is: 'running' }), ...RED }],
  ['is not pushed', FIXING, { ...pass({ is: 'changed' }), push: 'pending' }],
  ['was lost, and its retry is not due', FIXING, pass(lost(within(5)))],
  ['was lost, and the thread is working', FIXING, { ...pass(lost(ago(5))), isIdle: false }],
])('the loop waits for a pass that %s', (_, loop, look) => {
  expect(rowOf({ ...LOOP, ...loop }, lookWith(look))).toBeUndefined();
});

test('without `mayBegin` nothing new begins, and a current pass ends', () => {
  const may = { mayBegin: false };
  expect([
    loopAfterLook(LOOP, lookWith({ ...RED, ...may })),
    loopAfterLook({ ...LOOP, status: 'finalizing', auto_merge: true }, lookWith(may)),
    loopAfterLook({ ...LOOP, ...FIXING }, lookWith({ ...pass({ is: 'changed' }), ...RED, ...may })),
    loopAfterLook({ ...LOOP, ...FIXING }, lookWith({ ...pass(lost(now)), ...may })),
  ]).toMatchObject([
    { change: expect.not.objectContaining({ status: expect.anything() }) },
    { change: expect.not.objectContaining({ status: expect.anything() }) },
    { change: { status: 'observing' } },
    { act: 'retry' },
  ]);
});

test('checks that flap on one head begin no more than `maxPasses` passes', () => {
  let loop = { ...LOOP, pass_count: 0 };
  let begun = 0;
  for (let n = 0; n < 50; n++) {
    const isRed = n % 2 === 0;
    const outcome = loop.status === 'fixing' ? pass({ is: 'changed' }) : {};
    const step = loopAfterLook(loop, lookWith({ ...outcome, ...(isRed ? RED : {}) }));
    if (step.act === 'pass') begun++;
    loop = { ...loop, ...step.change };
  }
  expect([begun, loop.status === 'blocked' || loop.status === 'ready']).toEqual([5, true]);
});

const time = fc.integer({ min: -4_000, max: 400 }).map(within);
const orNull = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: null });
const count = fc.integer({ min: 0, max: 2 });
const outcomes: fc.Arbitrary<PassOutcome> = fc.oneof(
  fc.constantFrom('running', 'changed', 'unchanged', 'stopped', 'conflicted').map((is) => ({ is }) as const),
  fc.constantFrom('spend_limit_reached', 'timeout').map((code) => ({ is: 'failed', code }) as const),
  orNull(time).map(lost),
);
const summaries: fc.Arbitrary<ScmSummary> = fc
  .record({
    mergeable: fc.constantFrom('mergeable', 'conflicting', 'unknown'),
    mergeQueued: fc.boolean(),
    counts: fc.tuple(count, count, count),
    checksAvailable: fc.boolean(),
    unresolvedCount: count,
  })
  .map(({ counts, ...rest }) => ({ ...SUMMARY, ...rest, checks: checks(...counts) }));
const looks: fc.Arbitrary<LoopLook> = fc
  .record({
    headSha: fc.constantFrom(HEAD, HEAD, OTHER),
    isOwnHead: fc.boolean(),
    push: fc.constantFrom('current', 'current', 'pending', 'diverged', 'failed'),
    isIdle: fc.boolean(),
    summary: summaries,
    pointCount: count,
    userRunCompletedAt: orNull(fc.integer({ min: 0, max: 4_000 }).map(ago)),
    pass: outcomes,
    lostRuns: fc.integer({ min: 0, max: 3 }),
    refusal: fc.constantFrom(null, null, 'spend_limit', 'not_configured'),
    mayBegin: fc.boolean(),
  })
  .map((look) => ({ ...LOOK, ...look }));
const loops: fc.Arbitrary<LoopState> = fc
  .record({
    status: fc.constantFrom(...ENABLED),
    auto_merge: fc.boolean(),
    head_sha: orNull(fc.constant(HEAD)),
    head_seen_at: orNull(time),
    unknown_since: orNull(time),
    status_since: time,
    wait_until: orNull(time),
    pass_count: fc.integer({ min: 0, max: 6 }),
    operational_retry_count: fc.integer({ min: 0, max: 3 }),
    refused_summary: orNull(summaries),
    reason: fc.constantFrom('merge_refused', 'diverged', 'push_failed', 'no_change', 'checks_timeout'),
    error: fc.constantFrom('unavailable', 'worker_lost'),
  })
  .map(({ reason, error, ...loop }) => ({
    ...LOOP,
    ...loop,
    blocked_reason: loop.status === 'blocked' ? reason : null,
    last_error_code: loop.status === 'error' ? error : null,
    last_error_message: loop.status === 'error' ? 'away' : null,
  }));

/** A loop and a look at it: only `fixing` has a current pass. */
const met = fc
  .tuple(loops, looks)
  .map(([loop, look]): [LoopState, LoopLook] => [
    loop,
    loop.status === 'fixing' ? look : { ...look, pass: null, lostRuns: 0 },
  ]);

test('after every look, every loop has the columns of its status, and another look changes nothing', () => {
  fc.assert(
    fc.property(met, ([before, look]) => {
      const { change, act } = loopAfterLook(before, look);
      const loop = { ...before, ...change };
      expect(ENABLED).toContain(loop.status);
      expect(loop.blocked_reason !== null).toBe(loop.status === 'blocked');
      expect(loop.last_error_code !== null).toBe(loop.status === 'error');
      expect(loop.last_error_message !== null).toBe(loop.status === 'error');
      expect(loop.status === 'error' && loop.wait_until === null && before.wait_until !== null).toBe(false);
      expect(loop.pass_count).toBeLessThanOrEqual(Math.max(before.pass_count, look.maxPasses));
      if (act === 'pass') expect([loop.status, look.pass?.is === 'running']).toEqual(['fixing', false]);
      if (act === 'merge') expect([loop.status, loop.auto_merge]).toEqual(['finalizing', true]);
      if (act === undefined && look.mayBegin && loop.status !== 'fixing') {
        // Repeating the look finds nothing to do.
        const again = loopAfterLook(loop, { ...look, pass: null, lostRuns: 0 });
        expect({ ...loop, ...again.change }).toEqual({ ...loop, operational_retry_count: 0 });
        expect(again.act).toBeUndefined();
      }
    }),
    { numRuns: 3_000 },
  );
});

test('failed merges are counted across successful looks, until the loop is in error', () => {
  let loop: LoopState & { enabled: boolean } = { ...LOOP, enabled: true, auto_merge: true };
  const fault = { code: 'unavailable', message: 'away' } as const;
  const counts: number[] = [];
  for (let n = 0; loop.status !== 'error' && n < 10; n++) {
    const { change, act } = loopAfterLook(loop, LOOK);
    expect(act).toBe('merge');
    loop = { ...loop, ...change };
    loop = { ...loop, ...loopAfterFault(loop, fault, { push: 'current', now }) };
    counts.push(loop.operational_retry_count);
  }
  expect(counts.slice(0, 3)).toEqual([1, 2, 3]);
  expect([loop.status, loop.last_error_code]).toEqual(['error', 'unavailable']);
  expect(loopAfterLook({ ...LOOP, ...loop, status: 'ready' }, LOOK).change).toMatchObject({
    operational_retry_count: 0,
  });
});
