import type { Delivery } from '@headrace/client';

/** A delivery that is due is read again soon; one that waits for hours, seldom. */
const DUE_EVERY_MS = 3_000;
const WAITING_EVERY_MS = 30_000;
const SOON_MS = 60_000;
/** The webhook itself, and its list of deliveries while nothing in it moves: no event tells of new ones. */
export const QUIET_EVERY_MS = 15_000;
/** Sent while the webhook is off, too. */
const PING: Delivery['eventType'] = 'webhook.ping';

/** When what is shown is read again; false while nothing of it is pending, or what is waits for its webhook. */
export function readAgainIn(deliveries: readonly Delivery[], isOff: boolean, now: number): number | false {
  const pending = deliveries.filter(
    ({ status, eventType }) => status === 'pending' && (!isOff || eventType === PING),
  );
  if (pending.length === 0) return false;
  const isDue = ({ nextAttemptAt }: Delivery) =>
    nextAttemptAt === null || Math.abs(Date.parse(nextAttemptAt) - now) < SOON_MS;
  return pending.some(isDue) ? DUE_EVERY_MS : WAITING_EVERY_MS;
}

/** The same of a list. Each of its pages is a request, so more pages are read less often. */
export const listAgainIn = (
  deliveries: readonly Delivery[],
  isOff: boolean,
  { pages, now }: { pages: number; now: number },
): number => Math.min(readAgainIn(deliveries, isOff, now) || QUIET_EVERY_MS, QUIET_EVERY_MS) * pages;
