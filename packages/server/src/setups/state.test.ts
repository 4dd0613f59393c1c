import { expect, test } from 'vitest';
import { ENDED, isEnded, setupChange, UNDER_WAY } from './state.ts';
import type { SetupEvent, SetupStatus } from './state.ts';

const ALL: SetupStatus[] = ['queued', 'running', 'ready', 'failed'];
const EVENTS: SetupEvent[] = ['start', 'drop', 'succeed', 'fail'];

/** The table of state.ts: what each event makes of each status, and of the others nothing. */
const TABLE: Partial<Record<`${SetupStatus} ${SetupEvent}`, SetupStatus>> = {
  'queued start': 'running',
  'queued drop': 'failed',
  'running succeed': 'ready',
  'running fail': 'failed',
};

test.each(ALL.flatMap((status) => EVENTS.map((event) => [status, event] as const)))(
  '%s, %s',
  (status, event) => {
    const { from, to } = setupChange(event);
    expect(status === from ? to : undefined).toBe(TABLE[`${status} ${event}`]);
  },
);

test('a setup has ended where nothing leads on', () => {
  const last = ALL.filter((status) => EVENTS.every((event) => setupChange(event).from !== status));
  expect([...ENDED]).toEqual(last);
  expect([...UNDER_WAY, ...ENDED]).toEqual(ALL);
  expect(ALL.filter((status) => isEnded({ status }))).toEqual(last);
});
