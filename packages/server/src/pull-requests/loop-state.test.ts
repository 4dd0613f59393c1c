import { expect, test } from 'vitest';
import { loopAfter, newLoop } from './loop-state.ts';
import type { LoopEvent } from './loop-state.ts';

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
};
const anew = { ...begun, operational_retry_count: 0 };
const off = (by: string) => ({
  ...CLEARED,
  enabled: false,
  status: 'disabled',
  status_since: now,
  disabled_by: by,
});
const STATUSES = [
  null,
  'disabled',
  'observing',
  'waiting_checks',
  'fixing',
  'finalizing',
  'ready',
  'blocked',
  'error',
] as const;

test.each<[LoopEvent, unknown[]]>([
  ['enable', [anew, anew, {}, {}, {}, {}, {}, begun, begun]],
  ['switchOff', STATUSES.map(() => off('user'))],
  ['end', [{}, {}, ...STATUSES.slice(2).map(() => off('system'))]],
  ['transfer', [{}, {}, ...STATUSES.slice(2).map(() => off('transferred'))]],
])('%s, from every status', (event, expected) => {
  expect(STATUSES.map((status) => loopAfter(status, event, now))).toEqual(expected);
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
