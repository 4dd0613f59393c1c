/**
 * Leases of open calls: renewed while their process relays them, and what becomes of calls whose process
 * died.
 */
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { LEASE_SECONDS } from './lease.ts';
import { settle } from './settle.ts';

const AT_ONCE = 50;

/** Keeps the calls of this process. */
export async function renewLeases({ db }: Pick<Context, 'db'>, ids: number[]): Promise<void> {
  if (ids.length)
    await db
      .updateTable('model_calls')
      .set({ lease_until: sql<Date>`now() + ${LEASE_SECONDS} * interval '1 second'` })
      .where('id', 'in', ids)
      .where('status', '=', 'open')
      .execute();
}

/**
 * Settles calls whose lease is over at all that was set aside for them: nobody knows what they cost, and a
 * limit may not be passed. Returns how many.
 */
export async function sweepCalls(ctx: Pick<Context, 'db' | 'bus'>): Promise<number> {
  const lost = await ctx.db
    .selectFrom('model_calls')
    .select(['id', 'org_id', 'project_id', 'thread_id', 'run_id', 'period', 'reserved_micros'])
    .where('status', '=', 'open')
    .where('lease_until', '<', sql<Date>`now()`)
    .orderBy('lease_until')
    .limit(AT_ONCE)
    .execute();
  const settled = [];
  for (const call of lost)
    settled.push(
      await settle(
        ctx,
        { ...call, runId: call.run_id },
        { outcome: 'lost', usage: null, cost: call.reserved_micros, failure: null },
      ),
    );
  return settled.filter(Boolean).length;
}
