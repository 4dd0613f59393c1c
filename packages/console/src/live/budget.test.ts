import { expect, test } from 'vitest';
import { Budget } from './budget.ts';

test('120 requests a minute, whatever each costs; the oldest become free first', () => {
  const budget = new Budget();
  for (let at = 0; at < 119; at++) budget.spend(at, 1);
  expect(budget.waitMs(1_000)).toBe(0);
  budget.spend(1_000, 1);
  expect(budget.waitMs(1_000)).toBe(59_000);
  expect(budget.waitMs(60_000)).toBe(0);
  budget.spend(60_000, 40);
  expect(budget.waitMs(60_000)).toBeGreaterThan(0);
});

test('a pause holds all requests, and a shorter one does not end it', () => {
  const budget = new Budget();
  budget.pause(1_000, 12_000);
  budget.pause(1_000, 1_000);
  expect(budget.waitMs(2_000)).toBe(11_000);
  expect(budget.pausedMs(2_000)).toBe(11_000);
  expect(budget.waitMs(13_000)).toBe(0);
});
