/**
 * Leases of open calls: renewed while their process relays them, and the end of calls whose process died.
 */
import type { Context } from '../context.ts';
import { settle } from './settle.ts';
import { readLostCalls, renewCalls } from './store.ts';

const AT_ONCE = 50;

/** Keeps the calls of this process. */
export async function renewLeases({ db }: Pick<Context, 'db'>, ids: number[]): Promise<void> {
  if (ids.length) await renewCalls(db, ids);
}

/**
 * Settles calls whose lease is over at all that was reserved for them: nobody knows what they cost, and no
 * limit may be passed. Returns how many.
 */
export async function sweepCalls(ctx: Pick<Context, 'db' | 'bus'>): Promise<number> {
  let settled = 0;
  for (const call of await readLostCalls(ctx.db, AT_ONCE)) {
    const isSettled = await settle(
      ctx,
      { ...call, runId: call.run_id },
      { outcome: 'lost', usage: null, cost: call.reserved_micros, failure: null },
    );
    if (isSettled) settled++;
  }
  return settled;
}
