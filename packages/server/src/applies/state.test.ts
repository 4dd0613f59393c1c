import { describe, expect, test } from 'vitest';
import { applyChange, isEnded } from './state.ts';
import type { ApplyEvent, ApplyStatus } from './state.ts';

const STATUSES: ApplyStatus[] = ['queued', 'applied', 'conflicted', 'failed'];
const EVENTS: ApplyEvent[] = ['merge', 'repair', 'conflict', 'fail', 'cancel'];

/** The table of state.ts, line by line; an apply takes no other event. */
const TABLE: [ApplyStatus, ApplyEvent, ApplyStatus][] = [
  ['queued', 'merge', 'applied'],
  ['queued', 'repair', 'queued'],
  ['queued', 'conflict', 'conflicted'],
  ['queued', 'fail', 'failed'],
  ['queued', 'cancel', 'failed'],
];

describe('applyChange', () => {
  test.each(STATUSES.flatMap((status) => EVENTS.map((event) => [status, event] as const)))(
    '%s, %s',
    (status, event) => {
      const { from, to } = applyChange(event);
      const expected = TABLE.find((line) => line[0] === status && line[1] === event)?.[2];
      expect(from.includes(status) ? to : undefined).toBe(expected);
    },
  );

  test('an apply has ended when it takes no event', () => {
    for (const status of STATUSES)
      expect([status, isEnded(status)]).toEqual([status, !TABLE.some(([from]) => from === status)]);
  });
});
