import { expect, test } from 'vitest';
import { microsOf, usd } from './money.ts';

test.each([
  [null, '-'],
  [0, '$0.00'],
  [12_300_000, '$12.30'],
  [4_200, '$0.0042'],
  [1, '$0.000001'],
])('%s micro-units are %s', (micros, text) => {
  expect(usd(micros)).toBe(text);
});

test('dollars become whole micro-units', () => {
  expect([microsOf(0.1), microsOf(2.000_000_4), microsOf(undefined)]).toEqual([
    100_000,
    2_000_000,
    undefined,
  ]);
});
