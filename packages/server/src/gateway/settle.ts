/**
 * What a call cost, written once: by the process that relayed it, or, when that died, by whichever sweeps.
 */
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { clean } from '../db/clean-text.ts';
import { preparedAs } from '../db/prepared.ts';
import type { ModelFailure } from '../db/schema.ts';
import type { TokenUsage } from '../usage/index.ts';
import type { Reservation } from './reserve.ts';
import { lockedRows, untangled } from './spending.ts';

export type Failure = Pick<ModelFailure, 'code' | 'message'>;

export interface CallEnd {
  /** 'ok', or what went wrong, in a word. */
  outcome:
    | 'ok'
    | 'refused'
    | 'unreachable'
    | 'cut'
    | 'nonsense'
    | 'overrun'
    | 'disconnected'
    | 'closed'
    | 'lost';
  /** Null: none that costs. */
  usage: TokenUsage | null;
  cost: number;
  /** Null with `ok` ends a row of failures; with another outcome it leaves it. */
  failure: Failure | null;
}

type Ctx = Pick<Context, 'db' | 'bus'>;
const MESSAGE_CHARACTERS = 500;

/**
 * False when another process had given the call up: then it is settled at its whole reservation, and stays
 * so. One statement, as agents wait for it; each part reads the one before, so that rows are locked in
 * their order: the call's, the three of its scopes, the run's.
 */
export async function settle(
  ctx: Ctx,
  reservation: Pick<Reservation, 'id' | 'org_id' | 'project_id' | 'thread_id' | 'runId' | 'period'>,
  { outcome, usage, cost, failure }: CallEnd,
): Promise<boolean> {
  const [input, output, cached] = [
    usage?.inputTokens ?? 0,
    usage?.outputTokens ?? 0,
    usage?.cachedTokens ?? 0,
  ];
  const query = sql<{ settled: number }>`
    with call as (
      update model_calls set status = 'settled', outcome = ${outcome}, cost_micros = ${cost}, input_tokens = ${input}, output_tokens = ${output}, cached_tokens = ${cached}, settled_at = now()
      where id = ${reservation.id} and status = 'open' returning reserved_micros
    ), locked as (${lockedRows(reservation, reservation.period)}
    ), spent as (
      update spending s set spent_micros = s.spent_micros + ${cost}, reserved_micros = s.reserved_micros - call.reserved_micros
      from call, locked l where s.scope_id = l.scope_id and s.period = l.period returning 1
    ), run as (
      update runs set input_tokens = input_tokens + ${input}, output_tokens = output_tokens + ${output}, cached_tokens = cached_tokens + ${cached}, cost_micros = cost_micros + ${cost}, model_failure = ${failureAfter(outcome, failure)}
      where id = ${reservation.runId} and (select count(*) from spent) > 0
    )
    select count(*) as settled from call`.compile(ctx.db);
  const { rows } = await untangled(() => ctx.db.executeQuery(preparedAs('settle_call', query)));
  const isSettled = rows[0]!.settled > 0;
  if (isSettled && failure) ctx.bus.notify('control', reservation.thread_id);
  return isSettled;
}

/** A call that failed before anything was reserved, or was refused. */
export async function recordFailure(
  ctx: Ctx,
  run: { id: string; threadId: string },
  failure: Failure,
): Promise<void> {
  await ctx.db
    .updateTable('runs')
    .set({ model_failure: failureAfter('refused', failure) })
    .where('id', '=', run.id)
    .execute();
  ctx.bus.notify('control', run.threadId);
}

function failureAfter(outcome: CallEnd['outcome'], failure: Failure | null) {
  if (failure === null) return outcome === 'ok' ? sql<never>`null` : sql<never>`model_failure`;
  const told = JSON.stringify({
    code: failure.code,
    message: clean(failure.message).slice(0, MESSAGE_CHARACTERS).toWellFormed(),
  });
  return sql<never>`${told}::jsonb || jsonb_build_object('count', coalesce((model_failure->>'count')::int, 0) + 1)`;
}
