import type { Delivery } from '@headrace/client';
import { expect, test } from 'vitest';
import { listAgainIn, readAgainIn } from './hooks-timing.ts';

const NOW = Date.parse('2026-01-01T00:00:00.000Z');
const one = (status: Delivery['status'], seconds: number | null, eventType = 'run.completed') =>
  ({
    status,
    eventType,
    nextAttemptAt: seconds === null ? null : new Date(NOW + seconds * 1000).toISOString(),
  }) as Delivery;

test('only what is pending is read again, and what is due soon sooner', () => {
  const again = (...deliveries: Delivery[]) => readAgainIn(deliveries, false, NOW);
  expect(again()).toBe(false);
  expect(again(one('succeeded', null), one('failed', null))).toBe(false);
  expect(again(one('pending', 3600), one('pending', 5))).toBe(3_000);
  expect(again(one('pending', -5))).toBe(3_000);
  expect(again(one('pending', 3600))).toBe(30_000);
});

test('what waits for its webhook to be enabled is not, but a test is', () => {
  expect(readAgainIn([one('pending', -5)], true, NOW)).toBe(false);
  expect(readAgainIn([one('pending', -5), one('pending', 5, 'webhook.ping')], true, NOW)).toBe(3_000);
});

test('a list is read for new ones while nothing is pending, and less often the more of it was read', () => {
  const list = (pages: number, isOff: boolean, ...deliveries: Delivery[]) =>
    listAgainIn(deliveries, isOff, { pages, now: NOW });
  expect(list(1, false)).toBe(15_000);
  expect(list(1, false, one('pending', 3600))).toBe(15_000);
  expect(list(1, false, one('pending', 5))).toBe(3_000);
  expect(list(7, false, one('pending', 5))).toBe(21_000);
  expect(list(7, true, one('pending', 5))).toBe(105_000);
});
