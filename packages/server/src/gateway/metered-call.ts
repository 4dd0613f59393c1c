/** A call that costs: reserved before it is made, settled when it ended, however it ended. */
import type { IncomingMessage } from 'node:http';
import { costOf } from '../usage/index.ts';
import { meterAnswer } from './answer-meter.ts';
import type { AnswerMeter } from './answer-meter.ts';
import { boundCall, cachingOf, mostInput, mostUsage } from './bounds.ts';
import type { Caching } from './bounds.ts';
import type { CallContext, Calls, ModelCall } from './call-model.ts';
import { inactive } from './caller.ts';
import { relayAnswer, relayRefusal, withoutKey } from './relay.ts';
import type { Relayed, RelayTo } from './relay.ts';
import { reserve } from './reserve.ts';
import type { Reservation } from './reserve.ts';
import { settle } from './settle.ts';
import type { CallEnd } from './settle.ts';
import { limitOutput } from './shape-request.ts';
import type { ShapedRequest } from './shape-request.ts';
import { isUnreached } from './upstream.ts';
import { isOpenAi, upstreamHeaders, upstreamUrl } from './upstream-request.ts';
import { GatewayError, overBudget, sendError } from './wire-errors.ts';

/** Bytes that a maximum of output adds to the body. */
const MAXIMUM_BYTES = 64;

export async function meteredCall(
  ctx: CallContext,
  calls: Calls,
  call: ModelCall,
  shaped: ShapedRequest,
  req: IncomingMessage,
  to: RelayTo,
): Promise<void> {
  const { run, provider, providerName, key } = call;
  let text = JSON.stringify(shaped.body);
  const caching = cachingOf(shaped.wire, text);
  const inputTokens = mostInput(shaped, Buffer.byteLength(text) + MAXIMUM_BYTES);
  const of = {
    org_id: run.org_id,
    project_id: run.project_id,
    thread_id: run.thread_id,
    runId: run.id,
    provider: providerName,
    model: shaped.model,
    ...(shaped.hasDocuments ? {} : { known: run.prices }),
  };
  const reserved = await reserve(ctx, of, (prices, remaining) => {
    if (shaped.hasDocuments && remaining !== null)
      throw new GatewayError(
        400,
        'A document has no bound in tokens, and a spend limit or budget holds: send its text instead.',
      );
    return boundCall(shaped, prices, inputTokens, caching, remaining);
  });
  if (reserved.kind === 'inactive') throw inactive();
  if (reserved.kind === 'over') throw overBudget(shaped.wire, reserved.message);
  const { reservation } = reserved;
  if (reservation.isLimited && shaped.maxOutput !== reservation.bound.maxOutput) {
    limitOutput(shaped, reservation.bound.maxOutput, isOpenAi(provider));
    text = JSON.stringify(shaped.body);
  }
  calls.open.add(reservation.id);
  try {
    const meter = meterAnswer(shaped.wire);
    const relayed = await send(calls, call, text, shaped, reservation, meter, req, to);
    await settleCall(ctx, { shaped, reservation, caching, meter, relayed, provider: providerName, key });
    relayed.end();
  } finally {
    // A call that could not be settled is left to its lease, and charged whole.
    calls.open.delete(reservation.id);
  }
}

async function send(
  calls: Calls,
  { provider, endpoint, key }: ModelCall,
  body: string,
  shaped: ShapedRequest,
  reservation: Reservation,
  meter: AnswerMeter,
  req: IncomingMessage,
  to: RelayTo,
): Promise<Relayed & { isUnseen?: boolean }> {
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
      body,
      signal: to.signal,
    });
  } catch (error) {
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
  if (answer.statusCode < 200 || answer.statusCode >= 300)
    return { ...(await relayRefusal(answer, to, key)), isUnseen: true };
  return relayAnswer(answer, meter, to, {
    streams: shaped.streams,
    most: isBounded(shaped, reservation) ? reservation.bound.outputTokens : null,
    stallMs: calls.upstream.idleMs,
  });
}

/** Whether the provider was told how much it may answer. */
const isBounded = (shaped: ShapedRequest, reservation: Reservation) =>
  reservation.isLimited || shaped.maxOutput !== null;

interface Ended {
  shaped: ShapedRequest;
  reservation: Reservation;
  caching: Caching;
  meter: AnswerMeter;
  /** `isUnseen`: the provider did not take the call up, and charges nothing. */
  relayed: Relayed & { isUnseen?: boolean };
  provider: string;
  key: string | null;
}

async function settleCall(
  ctx: CallContext,
  { shaped, reservation, caching, meter, relayed, provider, key }: Ended,
): Promise<void> {
  const told = meter.usage();
  const bound = reservation.bound.outputTokens;
  const isMost = relayed.isUncounted === true || (shaped.hidesOutput && isBounded(shaped, reservation));
  const output = isMost
    ? bound
    : isBounded(shaped, reservation)
      ? Math.min(meter.mostTokens(), bound)
      : meter.mostTokens();
  const usage = relayed.isUnseen
    ? null
    : told?.isFinal && meter.isEnded()
      ? told.usage
      : mostUsage(reservation.bound, told?.usage ?? null, output, caching);
  const message =
    relayed.problem === null ? null : withoutKey(`The model provider ${provider} ${relayed.problem}`, key);
  const end: CallEnd = {
    outcome: relayed.outcome,
    usage,
    cost: usage ? costOf(reservation.prices, usage) : 0,
    failure: message === null ? null : { code: 'model_error', message },
  };
  if (message !== null)
    ctx.log.info(
      { runId: reservation.runId, provider, model: reservation.model, outcome: relayed.outcome },
      'a call of a model failed',
    );
  if (end.cost > reservation.bound.micros)
    ctx.log.warn(
      {
        runId: reservation.runId,
        provider,
        model: reservation.model,
        reserved: reservation.bound.micros,
        cost: end.cost,
      },
      'a model cost more than its maximum of output allows: its provider does not keep to it',
    );
  if (!(await settle(ctx, reservation, end)))
    ctx.log.warn(
      { runId: reservation.runId, call: reservation.id },
      'a call of a model was given up while it was under way: it is charged whole',
    );
}
