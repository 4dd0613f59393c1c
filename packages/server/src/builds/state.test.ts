import { expect, test } from 'vitest';
import { buildChange, ENDED, endingEvent, isEnded, OPEN } from './state.ts';
import type { BuildEvent, BuildStatus } from './state.ts';

const ALL: BuildStatus[] = ['queued', 'building', 'ready', 'failed'];
const EVENTS: BuildEvent[] = ['start', 'cancel', 'refuse', 'succeed', 'fail'];

/** The table of state.ts: what each event makes of each status, and of the others nothing. */
const TABLE: Partial<Record<`${BuildStatus} ${BuildEvent}`, BuildStatus>> = {
  'queued start': 'building',
  'queued cancel': 'failed',
  'queued refuse': 'failed',
  'building succeed': 'ready',
  'building fail': 'failed',
};

test.each(ALL.flatMap((status) => EVENTS.map((event) => [status, event] as const)))(
  '%s, %s',
  (status, event) => {
    const { from, to } = buildChange(event);
    expect(status === from ? to : undefined).toBe(TABLE[`${status} ${event}`]);
  },
);

test('a build has ended where nothing leads on', () => {
  const last = ALL.filter((status) => EVENTS.every((event) => buildChange(event).from !== status));
  expect([...ENDED]).toEqual(last);
  expect([...OPEN, ...ENDED]).toEqual(ALL);
  expect(ALL.filter((status) => isEnded({ status }))).toEqual(last);
});

const AT = new Date();
test.each([
  [null, null, undefined],
  [null, AT, undefined],
  ['ready', null, 'succeed'],
  ['ready', AT, 'fail'],
  ['failed', null, 'fail'],
  ['failed', AT, 'fail'],
] as const)('outcome %s, cancelled %s: %s', (outcome, cancelledAt, event) => {
  expect(endingEvent({ outcome, cancel_requested_at: cancelledAt })).toBe(event);
});
