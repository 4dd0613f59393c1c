import { expect, test } from 'vitest';
import { execChange, isEnded } from './state.ts';
import type { ExecEvent, ExecStatus } from './state.ts';

const ALL: ExecStatus[] = ['queued', 'running', 'completed', 'failed'];
const EVENTS: ExecEvent[] = ['start', 'complete', 'fail'];

/** The table of state.ts: what each event makes of each status, and of the others nothing. */
const TABLE: Partial<Record<`${ExecStatus} ${ExecEvent}`, ExecStatus>> = {
  'queued start': 'running',
  'running complete': 'completed',
  'queued fail': 'failed',
  'running fail': 'failed',
};

test.each(ALL.flatMap((status) => EVENTS.map((event) => [status, event] as const)))(
  '%s, %s',
  (status, event) => {
    const { from, to } = execChange(event);
    expect(from.includes(status) ? to : undefined).toBe(TABLE[`${status} ${event}`]);
  },
);

test('a command has ended where nothing leads on', () => {
  expect(ALL.filter(isEnded)).toEqual(
    ALL.filter((status) => EVENTS.every((event) => !execChange(event).from.includes(status))),
  );
});
