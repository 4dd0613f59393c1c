import { expect, test } from 'vitest';
import { Arrivals } from './arrivals.ts';

const NOW = 1_800_000_000_000;

test('ages by second, and the rate of the last ten whole ones', () => {
  const arrivals = new Arrivals();
  expect(arrivals.rates(NOW)).toMatchObject({ perSecond: 0, most: null });
  arrivals.add([NOW - 300, NOW - 40], NOW);
  arrivals.add([NOW + 900], NOW + 1000);
  const { perSecond, ages, most } = arrivals.rates(NOW + 2000);
  expect([perSecond, ages.length, most]).toEqual([0.3, 60, 300]);
  expect(ages.slice(-4)).toEqual([null, 300, 100, null]);
});

test('a clock that is behind makes no age below nothing; after a minute all is forgotten', () => {
  const arrivals = new Arrivals();
  arrivals.add([NOW + 400], NOW);
  expect(arrivals.rates(NOW).most).toBe(0);
  expect(arrivals.rates(NOW + 60_000).most).toBeNull();
});
