/**
 * Ends deliveries that are too old or too many, and removes ended ones. Only the sender's process does this, in
 * batches; every step is repeatable.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../context.ts';
import { deleteEnded, expirePending, findSubscriptionsPending, dropOverflow } from './delivery-store.ts';

const ROUND_MS = 5_000;
/** Counting 100,000 rows takes a while; rounds may take this share of the time. */
const ROUND_SHARE = 0.02;
const BATCH = 1_000;
/** The number of pending deliveries that a subscription may have. */
const MOST_PENDING = 100_000;

type Deps = Pick<Context, 'db' | 'clock' | 'config' | 'log'>;

/** Repeats until the signal; the next round repeats what failed. */
export async function maintainDeliveries(ctx: Deps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const began = performance.now();
    await tidyDeliveries(ctx, signal).catch((err: unknown) =>
      ctx.log.warn({ err }, 'the maintenance of webhook deliveries failed and is tried again'),
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
