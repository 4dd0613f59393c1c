/**
 * Ends what has waited for too long, or is too much, and removes what has ended. Only the sender's process does
 * this, in batches; every step can be repeated.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../context.ts';
import { deleteEnded, expirePending, findSubscriptionsPending, dropOverflow } from './delivery-store.ts';

const ROUND_MS = 5_000;
/** To count 100,000 rows takes a while; a round may take this part of the time. */
const ROUND_SHARE = 0.02;
const BATCH = 1_000;
/** Deliveries that a subscription may have pending. */
const MOST_PENDING = 100_000;

type Deps = Pick<Context, 'db' | 'clock' | 'config' | 'log'>;

/** Repeats until the signal; what fails is done in the next round. */
export async function maintainDeliveries(ctx: Deps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const began = performance.now();
    await tidyDeliveries(ctx, signal).catch((err: unknown) =>
      ctx.log.warn({ err }, 'deliveries of webhooks were not tidied; it is tried again'),
    );
    const rest = Math.max(ROUND_MS, (performance.now() - began) / ROUND_SHARE);
    await sleep(rest, undefined, { signal }).catch(() => {});
  }
}

/** One round. */
export async function tidyDeliveries(
  ctx: Deps,
  signal: AbortSignal,
  mostPending = MOST_PENDING,
): Promise<void> {
  const repeat = async (batch: () => Promise<number>) => {
    while (!signal.aborted && (await batch()) === BATCH);
  };
  await repeat(() => expirePending(ctx, BATCH));
  await repeat(() => deleteEnded(ctx, ctx.config.eventRetentionSeconds, BATCH));
  for (const id of await findSubscriptionsPending(ctx.db))
    await repeat(() => dropOverflow(ctx.db, id, { mostPending, limit: BATCH }));
}
