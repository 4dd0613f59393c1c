/** What a call cost, written once: by the process that relayed it, or, when that died, by whichever sweeps. */
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { clean } from '../db/clean-text.ts';
import type { ModelFailure } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import type { TokenUsage } from '../usage/index.ts';
import type { Reservation } from './reserve.ts';
import { addSpending, lockSpending } from './spending.ts';

export type Failure = Pick<ModelFailure, 'code' | 'message'>;

export interface CallEnd {
  /** 'ok', or what went wrong, in a word. */
  outcome: 'ok' | 'refused' | 'unreachable' | 'cut' | 'nonsense' | 'overrun' | 'disconnected' | 'closed' | 'lost';
  /** Null: none that costs. */
  usage: TokenUsage | null;
  cost: number;
  /** Null with `ok` ends a row of failures; with another outcome it leaves it. */
  failure: Failure | null;
}

type Ctx = Pick<Context, 'db' | 'bus'>;
const MESSAGE_CHARACTERS = 500;

/** False when another process had given the call up: then it is settled at its whole reservation, and stays so. */
export async function settle(ctx: Ctx, reservation: Pick<Reservation, 'id' | 'org_id' | 'project_id' | 'thread_id' | 'runId' | 'period'>, end: CallEnd): Promise<boolean> {
  return transaction(ctx, async (tx) => {
    const { usage, cost } = end;
    const call = await tx.db.updateTable('model_calls').set({
      status: 'settled', outcome: end.outcome, cost_micros: cost, input_tokens: usage?.inputTokens ?? 0, output_tokens: usage?.outputTokens ?? 0, cached_tokens: usage?.cachedTokens ?? 0, settled_at: sql<Date>`now()`,
    }).where('id', '=', reservation.id).where('status', '=', 'open').returning('reserved_micros').executeTakeFirst();
    if (!call) return false;
    await lockSpending(tx.db, reservation, reservation.period);
    await addSpending(tx.db, reservation, reservation.period, { spent: cost, reserved: -call.reserved_micros });
    await tx.db.updateTable('runs').set((eb) => ({
      input_tokens: eb('input_tokens', '+', usage?.inputTokens ?? 0), output_tokens: eb('output_tokens', '+', usage?.outputTokens ?? 0), cached_tokens: eb('cached_tokens', '+', usage?.cachedTokens ?? 0), cost_micros: eb('cost_micros', '+', cost),
    })).where('id', '=', reservation.runId).execute();
    await noteFailure(tx, reservation.runId, reservation.thread_id, end);
    return true;
  });
}

async function noteFailure(tx: Tx, runId: string, threadId: string, { outcome, failure }: CallEnd): Promise<void> {
  if (failure) await addFailure(tx, runId, threadId, failure);
  else if (outcome === 'ok') await tx.db.updateTable('runs').set({ model_failure: null }).where('id', '=', runId).where('model_failure', 'is not', null).execute();
}

/** A call that failed before anything was reserved, or was refused. */
export const recordFailure = (ctx: Ctx, run: { id: string; threadId: string }, failure: Failure): Promise<void> => transaction(ctx, (tx) => addFailure(tx, run.id, run.threadId, failure));

async function addFailure(tx: Tx, runId: string, threadId: string, { code, message }: Failure): Promise<void> {
  const told = JSON.stringify({ code, message: clean(message).slice(0, MESSAGE_CHARACTERS) });
  await tx.db.updateTable('runs').set({ model_failure: sql<never>`${told}::jsonb || jsonb_build_object('count', coalesce((model_failure->>'count')::int, 0) + 1)` }).where('id', '=', runId).execute();
  tx.wake('control', threadId);
}
