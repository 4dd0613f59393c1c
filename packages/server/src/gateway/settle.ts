/**
 * What a call cost, written once: by the process that relayed it, or, when that died, by whichever process
 * sweeps.
 */
import type { Context } from '../context.ts';
import { addFailureToRun } from '../runs/index.ts';
import type { CallFailure } from '../runs/index.ts';
import type { TokenUsage } from '../usage/index.ts';
import { settleOpenCall } from './store.ts';
import type { OpenCall } from './store.ts';

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
  failure: CallFailure | null;
}

type Ctx = Pick<Context, 'db' | 'bus'>;

/** False when another process has given the call up: it then stays settled at its whole reservation. */
export async function settle(
  ctx: Ctx,
  call: OpenCall,
  { outcome, usage, cost, failure }: CallEnd,
): Promise<boolean> {
  const isSettled = await settleOpenCall(ctx.db, call, outcome, {
    inputTokens: usage?.inputTokens ?? 0,
    outputTokens: usage?.outputTokens ?? 0,
    cachedTokens: usage?.cachedTokens ?? 0,
    micros: cost,
    failure: failure ?? (outcome === 'ok' ? 'ended' : null),
  });
  if (isSettled && failure) ctx.bus.notify('control', call.thread_id);
  return isSettled;
}

/** Records a call that failed before anything was reserved, or was refused. */
export async function recordFailure(
  ctx: Ctx,
  run: { id: string; thread_id: string },
  failure: CallFailure,
): Promise<void> {
  await addFailureToRun(ctx.db, run.id, failure);
  ctx.bus.notify('control', run.thread_id);
}
