/** When a delivery is tried again. */

const SPREAD = 0.1;
/** The longest delay that a receiver can ask for. */
const MOST_ASKED_SECONDS = 3_600;

/**
 * Milliseconds until the attempt after `attemptCount` failed ones, by the schedule, ±10% and not before a
 * `Retry-After`; null: no attempt follows.
 */
export function retryAfterMs(
  attemptCount: number,
  {
    schedule,
    retryAfter,
    now = Date.now(),
  }: { schedule: readonly number[]; retryAfter: string | null; now?: number },
): number | null {
  const seconds = schedule[attemptCount - 1];
  if (seconds === undefined) return null;
  const spread = seconds * (1 - SPREAD + 2 * SPREAD * Math.random());
  return Math.round(1_000 * Math.max(spread, secondsAsked(retryAfter, now)));
}

/** Seconds or an HTTP date; anything else is ignored. */
function secondsAsked(header: string | null, now: number): number {
  const text = header?.trim() ?? '';
  const seconds = /^\d+$/.test(text)
    ? Number(text)
    : /\bGMT$/.test(text)
      ? (Date.parse(text) - now) / 1_000
      : 0;
  return Number.isNaN(seconds) ? 0 : Math.min(seconds, MOST_ASKED_SECONDS);
}
