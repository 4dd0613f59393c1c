/**
 * Sets aside what a call can cost at most, in one short transaction, before a byte of it goes to the
 * provider.
 */
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { Prices } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { pricesOf } from '../usage/index.ts';
import type { ModelPrices } from '../usage/index.ts';
import type { Bound } from './bounds.ts';
import { LEASE_SECONDS } from './lease.ts';
import { reserveFast } from './reserve-fast.ts';
import { addSpending, isReached, leavesTooLittle, lockSpending, readLimits, unpriced } from './spending.ts';
import type { Scoped } from './spending.ts';

export interface CallOf extends Scoped {
  runId: string;
  provider: string;
  model: string;
  /** The run's prices as they were read last: its own are never changed, only added to. */
  known?: Record<string, Prices>;
}

export interface Reservation extends CallOf {
  id: number;
  period: string;
  prices: ModelPrices;
  bound: Bound;
  /** Whether any limit holds: the provider is then told a maximum of output. */
  isLimited: boolean;
}

export type Reserved =
  | { kind: 'reserved'; reservation: Reservation }
  | { kind: 'over'; message: string }
  | { kind: 'inactive' };

/** Snapshots that a run keeps; names of models are the agent's to choose. */
const MOST_MODELS = 50;

const FREE: ModelPrices = {
  inputMicros: 0,
  outputMicros: 0,
  cachedMicros: 0,
  cacheWriteMicros: 0,
  cacheWriteLongMicros: 0,
  tiers: [],
};

/**
 * `boundOf` is asked for the call's bound with `remaining` micro-units left (null: no limit); its null
 * means that they are too few.
 */
export async function reserve(
  ctx: Pick<Context, 'db' | 'bus' | 'config'>,
  call: CallOf,
  boundOf: (prices: ModelPrices, remaining: number | null) => Bound | null,
): Promise<Reserved> {
  const fast = await reserveAsAsked(ctx, call, boundOf);
  if (fast) return { kind: 'reserved', reservation: fast };
  return transaction(ctx, async (tx): Promise<Reserved> => {
    const now = await readLimits(tx.db, call.runId);
    if (!now || (now.status !== 'running' && now.status !== 'waiting') || now.cancel_requested_at)
      return { kind: 'inactive' };
    const { limits, period } = now;
    const known = snapshotOf(now.prices, call.model);
    const prices = known ?? pricesOf(ctx.config, call.provider, call.model);
    if (!prices && limits.length) return { kind: 'over', message: unpriced(call.provider, call.model) };
    const rows = await lockSpending(tx.db, call, period);
    const left = limits.map(({ scope, micros }) => ({
      scope,
      isSpent: rows[scope].spent >= micros,
      left: Math.max(0, micros - rows[scope].spent - rows[scope].reserved),
    }));
    const tightest = left.length ? left.reduce((a, b) => (b.left < a.left ? b : a)) : null;
    const bound = boundOf(prices ?? FREE, tightest?.left ?? null);
    if (!bound) {
      const spent = left.find((one) => one.isSpent);
      return {
        kind: 'over',
        message: spent ? isReached(spent.scope) : leavesTooLittle(tightest!.scope, tightest!.left),
      };
    }
    await addSpending(tx.db, call, period, { spent: 0, reserved: bound.micros });
    const id = await openCall(tx, call, period, bound.micros);
    if (!known && prices && Object.keys(now.prices).length < MOST_MODELS)
      await tx.db
        .updateTable('runs')
        .set({ prices: sql<never>`${JSON.stringify({ [call.model]: prices })}::jsonb || prices` })
        .where('id', '=', call.runId)
        .execute();
    return {
      kind: 'reserved',
      reservation: { ...call, id, period, prices: prices ?? FREE, bound, isLimited: limits.length > 0 },
    };
  });
}

/** Null when the call is a new one for its run, or does not go as it was asked for. */
async function reserveAsAsked(
  ctx: Pick<Context, 'db' | 'config'>,
  call: CallOf,
  boundOf: (prices: ModelPrices, remaining: number | null) => Bound | null,
): Promise<Reservation | null> {
  const known = call.known && snapshotOf(call.known, call.model);
  if (!known && (!call.known || pricesOf(ctx.config, call.provider, call.model))) return null;
  const bound = boundOf(known ?? FREE, null);
  const fast = bound && (await reserveFast(ctx, call, bound.micros, !known));
  return fast && { ...call, ...fast, prices: known ?? FREE, bound };
}

async function openCall(
  tx: Tx,
  { org_id, project_id, thread_id, runId, provider, model }: CallOf,
  period: string,
  reserved: number,
): Promise<number> {
  const { id } = await tx.db
    .insertInto('model_calls')
    .values({
      org_id,
      project_id,
      thread_id,
      run_id: runId,
      provider,
      model,
      status: 'open',
      period,
      reserved_micros: reserved,
      lease_until: sql<Date>`clock_timestamp() + ${LEASE_SECONDS} * interval '1 second'`,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

function snapshotOf(prices: Record<string, Prices>, model: string): ModelPrices | null {
  const found = Object.hasOwn(prices, model) ? prices[model]! : null;
  return found && { cacheWriteLongMicros: found.cacheWriteMicros, tiers: [], ...found };
}
