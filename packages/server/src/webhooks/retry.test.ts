import { expect, test } from 'vitest';
import { retryAfterMs } from './retry.ts';

const NOW = Date.parse('2026-11-23T12:00:00Z');
const next = (attemptCount: number, retryAfter: string | null = null) =>
  retryAfterMs(attemptCount, { schedule: [10, 100], retryAfter, now: NOW });

test('each delay follows the schedule, a tenth more or less, until none is left', () => {
  for (let i = 0; i < 200; i++) {
    expect(next(1)! / 1_000).toBeGreaterThanOrEqual(9);
    expect(next(1)! / 1_000).toBeLessThanOrEqual(11);
    expect(next(2)! / 1_000).toBeGreaterThanOrEqual(90);
    expect(next(2)! / 1_000).toBeLessThanOrEqual(110);
  }
  expect(new Set(Array.from({ length: 20 }, () => next(2))).size).toBeGreaterThan(10);
  expect([next(3), next(4, '60')]).toEqual([null, null]);
});

test.each([
  ['60', 60],
  [' 60 ', 60],
  ['Mon, 23 Nov 2026 12:01:00 GMT', 60],
  ['3601', 3_600],
  ['99999999999999999999', 3_600],
  ['Tue, 24 Nov 2026 12:00:00 GMT', 3_600],
])('it is not before Retry-After: %s', (header, seconds) => {
  expect(next(1, header)).toBe(seconds * 1_000);
});

test.each(['0', '-5', '1.5', '', 'soon', '0x40', '2027-01-01', 'Sun, 22 Nov 2026 12:00:00 GMT', 'never GMT'])(
  'Retry-After asks for nothing: %j',
  (header) => {
    expect(next(1, header)! / 1_000).toBeLessThanOrEqual(11);
  },
);
