/**
 * Reserves the most that a call can cost, in one short transaction, before a byte of it goes to the
 * provider.
 */
import type { Context } from '../context.ts';
import type { Prices } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import { isCalling, keepPrices } from '../runs/index.ts';
import { isReached, leavesTooLittle, pricesOf, readLimits, unpriced } from '../usage/index.ts';
import type { Limit, ModelPrices } from '../usage/index.ts';
import type { Bound } from './bounds.ts';
import { lockSpending, openCall, openCallAtOnce } from './store.ts';
import type { NewCall, OpenCall } from './store.ts';

/** `known`: the run's prices as they were read last. A price that a run has never changes. */
type PricedCall = NewCall & { known?: Record<string, Prices> };

export interface Reservation extends NewCall, OpenCall {
  prices: ModelPrices;
  bound: Bound;
  /** Whether any limit holds: the provider is then given a maximum of output. */
  isLimited: boolean;
}

type Reserved =
  | { kind: 'reserved'; reservation: Reservation }
  | { kind: 'over'; message: string }
  | { kind: 'inactive' };

/**
 * The bound of the call with `remaining` micro-units left (null: no limit); null when they are too few.
 */
type BoundOf = (prices: ModelPrices, remaining: number | null) => Bound | null;

/** Models whose prices a run keeps; their names are the agent's to choose. */
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
 * Reserves in one statement where no limit cuts the call and its run has called this model before, else in
 * a transaction of six.
 */
export async function reserve(
  ctx: Pick<Context, 'db' | 'bus' | 'config'>,
  call: PricedCall,
  boundOf: BoundOf,
): Promise<Reserved> {
  const reservation = await reserveAtOnce(ctx, call, boundOf);
  return reservation ? { kind: 'reserved', reservation } : reserveWithinLimits(ctx, call, boundOf);
}

/** Null when the call is a new one for its run, or cannot go as it was asked for. */
async function reserveAtOnce(
  ctx: Pick<Context, 'db' | 'config'>,
  call: PricedCall,
  boundOf: BoundOf,
): Promise<Reservation | null> {
  const known = call.known && snapshotOf(call.known, call.model);
  if (!known && (!call.known || pricesOf(ctx.config, call.provider, call.model))) return null;
  const bound = boundOf(known ?? FREE, null);
  if (!bound) return null;
  // The month of the application's clock: where the database's differs, nothing is reserved here.
  const period = new Date().toISOString().slice(0, 7);
  const opened = await openCallAtOnce(ctx.db, call, { period, micros: bound.micros, isUnlimited: !known });
  return opened && { ...call, ...opened, period, prices: known ?? FREE, bound };
}

/** Reserves within the limits that hold, with the call's bound cut to what they leave. */
async function reserveWithinLimits(
  ctx: Pick<Context, 'db' | 'bus' | 'config'>,
  call: PricedCall,
  boundOf: BoundOf,
): Promise<Reserved> {
  return transaction(ctx, async (tx): Promise<Reserved> => {
    const now = await readLimits(tx.db, call.runId);
    if (!now || !isCalling(now)) return { kind: 'inactive' };
    const { limits, period } = now;
    const known = snapshotOf(now.prices, call.model);
    const prices = known ?? pricesOf(ctx.config, call.provider, call.model);
    if (!prices && limits.length) return { kind: 'over', message: unpriced(call.provider, call.model) };
    const left = leftOf(limits, await lockSpending(tx, call, period));
    const tightest = left.length ? left.reduce((a, b) => (b.micros < a.micros ? b : a)) : null;
    const bound = boundOf(prices ?? FREE, tightest?.micros ?? null);
    if (!bound) {
      const spent = left.find((one) => one.isSpent);
      return {
        kind: 'over',
        message: spent ? isReached(spent.scope) : leavesTooLittle(tightest!.scope, tightest!.micros),
      };
    }
    const id = await openCall(tx, call, period, bound.micros);
    if (!known && prices && Object.keys(now.prices).length < MOST_MODELS)
      await keepPrices(tx, call.runId, { [call.model]: prices });
    return {
      kind: 'reserved',
      reservation: { ...call, id, period, prices: prices ?? FREE, bound, isLimited: limits.length > 0 },
    };
  });
}

const leftOf = (limits: Limit[], rows: Awaited<ReturnType<typeof lockSpending>>) =>
  limits.map(({ scope, micros }) => ({
    scope,
    isSpent: rows[scope].spent >= micros,
    micros: Math.max(0, micros - rows[scope].spent - rows[scope].reserved),
  }));

function snapshotOf(prices: Record<string, Prices>, model: string): ModelPrices | null {
  const found = Object.hasOwn(prices, model) ? prices[model]! : null;
  return found && { cacheWriteLongMicros: found.cacheWriteMicros, tiers: [], ...found };
}
