import { describe, expect, test } from 'vitest';
import { admitted, executionChange, notAdmitted, OPEN } from './state.ts';
import type { ExecutionEvent, ExecutionStatus } from './state.ts';

const EVENTS: ExecutionEvent[] = ['begin', 'refuse', 'complete', 'fail', 'cancel'];
/** What each event leaves, in their order; null: nothing changes. */
const TABLE: Record<ExecutionStatus, (ExecutionStatus | null)[]> = {
  queued: ['running', 'failed', null, null, 'cancelled'],
  running: [null, null, 'completed', 'failed', 'cancelled'],
  completed: [null, null, null, null, null],
  failed: [null, null, null, null, null],
  cancelled: [null, null, null, null, null],
  skipped: [null, null, null, null, null],
};
const STATUSES = Object.keys(TABLE) as ExecutionStatus[];

describe('executionChange', () => {
  test.each(
    STATUSES.flatMap((status) => EVENTS.map((event, at) => [status, event, TABLE[status][at]!] as const)),
  )('%s, %s: %s', (status, event, expected) => {
    const { from, to } = executionChange(event);
    expect(from.includes(status) ? to : null).toBe(expected);
  });
});

test('an execution is admitted or skipped, and an ended one does not change', () => {
  expect([admitted, notAdmitted]).toEqual(['queued', 'skipped']);
  expect(STATUSES.filter((status) => TABLE[status].some((after) => after !== null))).toEqual([...OPEN]);
});
