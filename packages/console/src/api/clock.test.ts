import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { noticeDate, serviceNow } from './clock.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const SERVICE = Date.UTC(2026, 0, 1, 12);
const HOUR_MS = 3_600_000;
const answer = (at: number, tookMs = 0) => noticeDate(new Date(at).toUTCString(), performance.now() - tookMs);

test('it is what the service says, however far and often the machine’s clock jumps', () => {
  answer(SERVICE);
  for (const jump of [HOUR_MS, -HOUR_MS, 720 * HOUR_MS, -720 * HOUR_MS]) {
    vi.setSystemTime(SERVICE + jump);
    expect(Math.abs(serviceNow() - SERVICE)).toBeLessThanOrEqual(1_000);
  }
});

test('it goes on between answers, and only an answer that contradicts it changes it', () => {
  answer(SERVICE);
  const first = serviceNow();
  vi.advanceTimersByTime(700);
  answer(SERVICE);
  expect(serviceNow()).toBe(first + 700);
  // Made at any time within ten seconds.
  answer(SERVICE - 9_000, 10_000);
  expect(serviceNow()).toBe(first + 700);
  answer(SERVICE + HOUR_MS);
  expect(serviceNow()).toBe(SERVICE + HOUR_MS);
  answer(Number.NaN);
  expect(serviceNow()).toBe(SERVICE + HOUR_MS);
});
