import { expect, test } from 'vitest';
import { MeasuredClock } from './measured-clock.ts';

const HOUR_MS = 3_600_000;
/** A question of `tookMs`, answered just now, whose server read its clock `lateMs` after it was asked. */
function answer(clock: MeasuredClock, server: string, offsetMs: number, tookMs = 0, lateMs = tookMs / 2) {
  const askedAt = performance.now() - tookMs;
  clock.measured({ server, time: askedAt + lateMs + offsetMs, askedAt });
}
const offsetOf = (clock: MeasuredClock) => clock.now() - performance.now();

test("before an answer it is this machine's clock, then the database's, wherever that is", () => {
  const clock = new MeasuredClock();
  expect(Math.abs(clock.now() - Date.now())).toBeLessThan(1_000);
  answer(clock, 'a', HOUR_MS, 2);
  expect(Math.abs(offsetOf(clock) - HOUR_MS)).toBeLessThan(50);
});

test('the quickest of the last answers counts, until it is old or of another server', () => {
  const clock = new MeasuredClock();
  answer(clock, 'a', HOUR_MS, 2);
  answer(clock, 'a', HOUR_MS, 10_000, 0);
  expect(Math.abs(offsetOf(clock) - HOUR_MS)).toBeLessThan(50);
  for (let i = 0; i < 16; i++) answer(clock, 'a', 2 * HOUR_MS, 100);
  expect(Math.abs(offsetOf(clock) - 2 * HOUR_MS)).toBeLessThan(100);
  answer(clock, 'b', 3 * HOUR_MS, 5_000);
  expect(Math.abs(offsetOf(clock) - 3 * HOUR_MS)).toBeLessThan(100);
});
