/** A call that costs: its money is reserved before it is made, and settled however it ends. */
import { secondsSince } from '@headrace/runner/metrics';
import { costOf } from '../usage/index.ts';
import type { TokenUsage } from '../usage/index.ts';
import { meterAnswer } from './answer-meter.ts';
import type { AnswerMeter } from './answer-meter.ts';
import { boundCall, cachingOf, mostInput, mostUsage } from './bounds.ts';
import type { Caching } from './bounds.ts';
import { inactive } from './caller.ts';
import type { Calls } from './calls.ts';
import type { CallContext, ModelCall } from './model-call.ts';
import { relayAnswer, relayRefusal, withoutKey } from './relay.ts';
import type { Relayed } from './relay.ts';
import { reserve } from './reserve.ts';
import type { Reservation } from './reserve.ts';
import { settle } from './settle.ts';
import { limitOutput } from './shape-request.ts';
import type { ShapedRequest } from './shape-request.ts';
import { isUnreached } from './upstream.ts';
import { isOpenAi, upstreamHeaders, upstreamUrl } from './upstream-request.ts';
import { GatewayError, overBudget, sendError } from './wire-errors.ts';

/** Bytes that a maximum of output adds to the body. */
const MAXIMUM_BYTES = 64;

/** A call whose money is reserved. */
interface Metered {
  call: ModelCall;
  shaped: ShapedRequest;
  /** The request's body. */
  text: string;
  caching: Caching;
  reservation: Reservation;
  meter: AnswerMeter;
}

/** `isUnseen`: the provider did not take the call up, and charges nothing. */
type MeteredAnswer = Relayed & { isUnseen?: boolean };

export async function meteredCall(
  ctx: CallContext,
  calls: Calls,
  call: ModelCall,
  shaped: ShapedRequest,
): Promise<void> {
  const metered = await reserveCall(ctx, call, shaped);
  const { id } = metered.reservation;
  calls.open.add(id);
  try {
    const began = performance.now();
    const relayed = await send(calls, metered);
    const labels = { provider: call.to.provider, outcome: relayed.outcome };
    ctx.metrics.observe('headrace_model_call_seconds', labels, secondsSince(began));
    await settleCall(ctx, metered, relayed);
    relayed.end();
  } finally {
    // A call that could not be settled is left to its lease, and charged whole.
    calls.open.delete(id);
  }
}

/** Reserves the most that the call can cost, and limits its output where a limit holds. */
async function reserveCall(ctx: CallContext, call: ModelCall, shaped: ShapedRequest): Promise<Metered> {
  const { run, provider, to } = call;
  let text = JSON.stringify(shaped.body);
  const caching = cachingOf(shaped.wire, text);
  const inputTokens = mostInput(shaped, Buffer.byteLength(text) + MAXIMUM_BYTES);
  const priced = {
    org_id: run.org_id,
    project_id: run.project_id,
    thread_id: run.thread_id,
    runId: run.id,
    provider: to.provider,
    model: shaped.model,
    ...(shaped.hasDocuments ? {} : { known: run.prices }),
  };
  const reserved = await reserve(ctx, priced, (prices, remaining) => {
    if (shaped.hasDocuments && remaining !== null)
      throw new GatewayError(
        400,
        'A document has no bound in tokens, and a spend limit or budget holds: send its text instead.',
      );
    return boundCall(shaped, prices, { inputTokens, caching, remaining });
  });
  if (reserved.kind === 'inactive') throw inactive();
  if (reserved.kind === 'over') throw overBudget(shaped.wire, reserved.message);
  const { reservation } = reserved;
  if (reservation.isLimited && shaped.maxOutput !== reservation.bound.maxOutput) {
    limitOutput(shaped, { tokens: reservation.bound.maxOutput, isOpenAi: isOpenAi(provider) });
    text = JSON.stringify(shaped.body);
  }
  return { call, shaped, text, caching, reservation, meter: meterAnswer(shaped.wire) };
}

async function send(calls: Calls, metered: Metered): Promise<MeteredAnswer> {
  const { call, shaped, text, reservation, meter } = metered;
  const { provider, endpoint, key, req, to } = call;
  let answer;
  try {
    const headers = {
      ...upstreamHeaders(req.headers, provider, to.wire, key),
      'content-type': 'application/json',
    };
    answer = await calls.upstream.send({
      url: upstreamUrl(provider, endpoint),
      method: 'POST',
      headers,
      body: text,
      signal: to.signal,
    });
  } catch (error) {
    return unanswered(metered, error);
  }
  if (answer.statusCode < 200 || answer.statusCode >= 300)
    return { ...(await relayRefusal(answer, to, key)), isUnseen: true };
  return relayAnswer(answer, meter, to, {
    streams: shaped.streams,
    most: isBounded(metered) ? reservation.bound.outputTokens : null,
    stallMs: calls.upstream.idleMs,
  });
}

/** The end of a call that the provider did not answer. */
function unanswered({ call: { to }, shaped }: Metered, error: unknown): MeteredAnswer {
  // A stream that has not begun has no output; a whole answer may have all of it.
  const seen = { isUnseen: isUnreached(error), isUncounted: !shaped.streams };
  if (to.signal.aborted)
    return {
      ...seen,
      outcome: to.signal.reason === 'closed' ? 'closed' : 'disconnected',
      problem: null,
      end: () => to.res.destroy(),
    };
  const problem = seen.isUnseen ? 'could not be reached' : 'broke off the connection';
  return {
    ...seen,
    outcome: 'unreachable',
    problem,
    end: () =>
      sendError(to.res, to.wire, {
        status: 502,
        message: `The model provider ${to.provider} ${problem}.`,
        code: 'upstream_error',
      }),
  };
}

/** Whether the provider was given a maximum of output. */
const isBounded = ({ shaped, reservation }: Pick<Metered, 'shaped' | 'reservation'>) =>
  reservation.isLimited || shaped.maxOutput !== null;

async function settleCall(ctx: CallContext, metered: Metered, relayed: MeteredAnswer): Promise<void> {
  const { call, reservation } = metered;
  const { provider } = call.to;
  const usage = usageOf(metered, relayed);
  const cost = usage ? costOf(reservation.prices, usage) : 0;
  countSpent(ctx, provider, { usage, cost });
  const message =
    relayed.problem === null
      ? null
      : withoutKey(`The model provider ${provider} ${relayed.problem}`, call.key);
  if (message !== null)
    ctx.log.info(
      { runId: reservation.runId, provider, model: reservation.model, outcome: relayed.outcome },
      'a call of a model failed',
    );
  if (cost > reservation.bound.micros)
    ctx.log.warn(
      {
        runId: reservation.runId,
        provider,
        model: reservation.model,
        reserved: reservation.bound.micros,
        cost,
      },
      'a model cost more than its maximum of output allows: its provider does not keep to it',
    );
  const failure = message === null ? null : { code: 'model_error' as const, message };
  if (!(await settle(ctx, reservation, { outcome: relayed.outcome, usage, cost, failure })))
    ctx.log.warn(
      { runId: reservation.runId, call: reservation.id },
      'a call of a model was given up while it was under way: it is charged whole',
    );
}

function countSpent(
  { metrics }: CallContext,
  provider: string,
  { usage, cost }: { usage: TokenUsage | null; cost: number },
): void {
  if (!usage) return;
  metrics.count('headrace_model_tokens_total', { provider, direction: 'input' }, usage.inputTokens);
  metrics.count('headrace_model_tokens_total', { provider, direction: 'output' }, usage.outputTokens);
  metrics.count('headrace_model_cost_micros_total', { provider }, cost);
}

/** What the call used, as the provider reported it, else the most that it can have used. */
function usageOf(metered: Metered, relayed: MeteredAnswer): TokenUsage | null {
  if (relayed.isUnseen) return null;
  const { reservation, caching, meter } = metered;
  const reported = meter.usage();
  if (reported?.isFinal && meter.isEnded()) return reported.usage;
  return mostUsage(reservation.bound, reported?.usage ?? null, mostOutput(metered, relayed), caching);
}

function mostOutput(metered: Metered, relayed: MeteredAnswer): number {
  const { shaped, reservation, meter } = metered;
  const bound = reservation.bound.outputTokens;
  if (relayed.isUncounted === true || (shaped.hidesOutput && isBounded(metered))) return bound;
  return isBounded(metered) ? Math.min(meter.mostTokens(), bound) : meter.mostTokens();
}
