import { expect, test } from 'vitest';
import { newLoopState } from './loop-state.fixture.ts';
import {
  LOOP_STATUSES,
  loopAfter,
  loopAfterChoice,
  loopAfterFault,
  loopAfterRefusal,
  newLoop,
} from './loop-state.ts';
import type { LoopEvent, LoopState } from './loop-state.ts';
import { EVENT_ROWS, LOOP_TABLE } from './loop-table.ts';

const CLEARED = { wait_until: null, blocked_reason: null, last_error_code: null, last_error_message: null };
const now = new Date();
const begun = {
  ...CLEARED,
  enabled: true,
  status: 'observing',
  status_since: now,
  disabled_by: null,
  pass_count: 0,
  head_seen_at: null,
  refused_summary: null,
  operational_retry_count: 0,
};
const fromDisabled = { ...begun, enabled_at: now };
const off = (by: string) => ({
  ...CLEARED,
  enabled: false,
  status: 'disabled',
  status_since: now,
  disabled_by: by,
});
const STATUSES = [null, ...LOOP_STATUSES];

test.each<[LoopEvent, unknown[]]>([
  ['enable', [fromDisabled, fromDisabled, {}, {}, {}, {}, {}, begun, begun]],
  ['switchOff', STATUSES.map(() => off('user'))],
  ['end', [{}, {}, ...STATUSES.slice(2).map(() => off('system'))]],
  ['transfer', [{}, {}, ...STATUSES.slice(2).map(() => off('transferred'))]],
])('%s, from every status', (event, expected) => {
  expect(STATUSES.map((status) => loopAfter(status, event, now))).toEqual(expected);
});

const LOOP = newLoopState(now);
const enabled = STATUSES.slice(2) as LoopState['status'][];
const FROM: Record<string, LoopState['status'][]> = {
  any: ['disabled', ...enabled],
  'any enabled': enabled,
  'blocked, error': ['blocked', 'error'],
  disabled: ['disabled'],
  finalizing: ['finalizing'],
  ready: ['ready'],
};

test.each(EVENT_ROWS.map((row) => [row.from, row.when, row] as const))('%s: %s', (_, __, row) => {
  for (const status of FROM[row.from]!) {
    const reason = status === 'blocked' ? 'no_change' : null;
    const after = {
      ...LOOP,
      status,
      blocked_reason: reason,
      ...row.change({ ...LOOP, status, blocked_reason: reason }, now),
    };
    // A loop in error keeps failing.
    const to = row.to === 'same' || status === 'error' ? [status, row.to] : [row.to];
    expect(to).toContain(after.status);
    expect(after.blocked_reason !== null).toBe(after.status === 'blocked');
    expect(after.last_error_code !== null).toBe(after.status === 'error' && row.when.includes('fails'));
    if (after.blocked_reason && row.to === 'blocked') expect(row.also).toBe(`\`${after.blocked_reason}\``);
  }
});

test('no two rows of the table are equal', () => {
  const lines = LOOP_TABLE.map(({ from, when }) => `${from}: ${when}`);
  expect(new Set(lines).size).toBe(lines.length);
});

const at = { push: 'current', now } as const;
const away = { code: 'unavailable', message: 'away' } as const;
const inSeconds = (seconds: number) => new Date(now.getTime() + seconds * 1_000);

test('a provider that fails is retried after 30, 60 and 120 s, then every 300 s', () => {
  let loop = { ...LOOP, enabled: true, status: 'ready' as LoopState['status'] };
  const seen = Array.from({ length: 6 }, () => {
    loop = { ...loop, ...loopAfterFault(loop, away, at) };
    return [loop.status, loop.operational_retry_count, loop.last_error_code, loop.wait_until];
  });
  expect(seen).toEqual([
    ['ready', 1, null, inSeconds(30)],
    ['ready', 2, null, inSeconds(60)],
    ['ready', 3, null, inSeconds(120)],
    ['error', 3, 'unavailable', inSeconds(300)],
    ['error', 3, 'unavailable', inSeconds(300)],
    ['error', 3, 'unavailable', inSeconds(300)],
  ]);
  expect(loopAfterFault({ ...LOOP, enabled: false, status: 'disabled' }, away, at)).toEqual({});
  expect(loopAfterFault(null, away, at)).toEqual({});
});

test('a failed or diverged push blocks the loop, even while the provider does not answer', () => {
  const loop = { ...LOOP, enabled: true };
  expect(loopAfterFault(loop, away, { push: 'diverged', now })).toMatchObject({ blocked_reason: 'diverged' });
  const change = loopAfterFault(loop, away, { push: 'failed', now });
  expect(change).toMatchObject({ status: 'blocked', blocked_reason: 'push_failed', wait_until: null });
  expect(loopAfterFault({ ...loop, ...change }, away, { push: 'failed', now })).toEqual({});
});

test('a refused merge blocks only a loop that is finalizing', () => {
  const refusal = { now, summary: null };
  const finalizing = { ...LOOP, status: 'finalizing' as const };
  expect(loopAfterRefusal(LOOP, refusal)).toEqual({});
  expect(loopAfterRefusal(finalizing, refusal)).toMatchObject({
    status: 'blocked',
    blocked_reason: 'merge_refused',
    last_processed_head_sha: LOOP.head_sha,
    wait_until: inSeconds(900),
  });
});

test('a caller who turns `autoMerge` on clears an earlier refusal', () => {
  expect(loopAfterChoice({ ...LOOP, status: 'ready' }, true, { unresolvedCount: 0, now })).toMatchObject({
    status: 'finalizing',
    refused_summary: null,
  });
});

test('a new pull request has the loop that its caller asks for, else that of the settings', () => {
  const none = { enabled: false, autoMerge: false };
  const on = { enabled: true, autoMerge: true };
  expect([
    newLoop(undefined, none),
    newLoop({ enabled: false }, on),
    newLoop({ autoMerge: true }, none),
    newLoop(undefined, on),
    newLoop({ enabled: true }, none),
    newLoop({ enabled: true, autoMerge: false }, on),
  ]).toMatchObject([
    null,
    null,
    { auto_merge: true },
    { status: 'observing', enabled: true, auto_merge: true },
    { status: 'observing', enabled: true, auto_merge: false },
    { status: 'observing', enabled: true, auto_merge: false },
  ]);
});
