import { expect, test } from 'vitest';
import { loopAfter } from './loop-state.ts';
import type { LoopEvent } from './loop-state.ts';

const CLEARED = { wait_until: null, blocked_reason: null, last_error_code: null, last_error_message: null };
const begun = { ...CLEARED, enabled: true, status: 'observing', disabled_by: null, pass_count: 0 };
const anew = { ...begun, operational_retry_count: 0 };
const off = (by: string) => ({ ...CLEARED, enabled: false, status: 'disabled', disabled_by: by });
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
  expect(STATUSES.map((status) => loopAfter(status, event))).toEqual(expected);
});
