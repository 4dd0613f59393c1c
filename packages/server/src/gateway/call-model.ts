/** One call of an agent, from its request to its settlement. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { modelOf } from '../agents/index.ts';
import type { ProviderEntry, Wire } from '../config-file.ts';
import { unsealModelKey } from '../usage/index.ts';
import { bodyLength, readBody } from './body.ts';
import { callerOf } from './caller.ts';
import type { CallingRun } from './caller.ts';
import { AT_ONCE } from './calls.ts';
import type { Calls } from './calls.ts';
import { meteredCall } from './metered-call.ts';
import type { CallContext, ModelCall } from './model-call.ts';
import { relayFree } from './relay-free.ts';
import { wireOf } from './route.ts';
import type { Endpoint } from './route.ts';
import { recordFailure } from './settle.ts';
import { shapeRequest } from './shape-request.ts';
import { GatewayError } from './wire-errors.ts';

/** A body is held in several forms while its call is under way: a run's calls have 64 MiB of them at once. */
const BYTES_OF_PLACE = 4 * 1024 * 1024;

/**
 * Answers the call. Throws a GatewayError for what is refused here, and records it with the run where it
 * counts as a failure of its model.
 */
export async function callModel(
  ctx: CallContext,
  calls: Calls,
  route: { provider: string; endpoint: Endpoint },
  { req, res }: { req: IncomingMessage; res: ServerResponse },
): Promise<void> {
  const { run, keySealed } = await callerOf(ctx, req, route.provider);
  const provider = providerOf(ctx, run, route.provider);
  const wire = wireOf(route.endpoint, provider.wires);
  requireWire(provider, wire, route.provider);
  await calls.during(res, async (signal) => {
    try {
      const key = keySealed && unsealModelKey(ctx.secretKey, run.org_id, route.provider, keySealed);
      requireKey(provider, key, route.provider);
      const to = { res, wire, provider: route.provider, signal };
      await relayCall(ctx, calls, { run, provider, endpoint: route.endpoint, key, req, to });
    } catch (error) {
      if (signal.aborted) return void res.destroy();
      const failure = failureOf(error, route.endpoint);
      if (failure) await recordFailure(ctx, run, failure);
      throw error;
    }
  });
}

/** Waits for a place, and passes the call on as its endpoint needs it. */
async function relayCall(ctx: CallContext, calls: Calls, call: ModelCall): Promise<void> {
  const { run, endpoint, req, to } = call;
  const free = await calls.places.take(run.id, placesOf(req), to.signal);
  try {
    if (endpoint === 'models') return await relayFree(calls, call, null);
    const shaped = shapeRequest(to.wire, await readBody(req, to.signal));
    if (endpoint === 'messages/count_tokens') await relayFree(calls, call, shaped);
    else await meteredCall(ctx, calls, call, shaped);
  } finally {
    free();
  }
}

const placesOf = (req: IncomingMessage) =>
  Math.min(AT_ONCE.atOnce, Math.max(1, Math.ceil((bodyLength(req) ?? 0) / BYTES_OF_PLACE)));

function providerOf({ config }: CallContext, run: CallingRun, name: string): ProviderEntry {
  const own = modelOf(run.model_id).provider;
  if (name !== own)
    throw new GatewayError(403, `This run's model is of the provider ${own}: no other one may be called.`);
  const provider = Object.hasOwn(config.providers, name) ? config.providers[name]! : null;
  if (!provider) throw new GatewayError(404, `No model provider ${name} is configured.`);
  return provider;
}

function requireWire({ wires }: ProviderEntry, wire: Wire, name: string): void {
  if (!wires.includes(wire))
    throw new GatewayError(
      404,
      `The provider ${name} does not speak ${wire}. It speaks ${wires.join(', ')}.`,
    );
}

function requireKey(provider: ProviderEntry, key: string | null, name: string): void {
  if (key === null && provider.key === 'required')
    throw new GatewayError(
      401,
      `The organization has no key of the model provider ${name}. Set it with PUT /api/model-keys/${name}.`,
      { failure: 'model_error' },
    );
}

/**
 * What counts as a failure of the run's model; null for what the agent may go on without: lists, counts of
 * tokens, too many calls at once.
 */
function failureOf(error: unknown, endpoint: Endpoint) {
  if (endpoint === 'models' || endpoint === 'messages/count_tokens' || !(error instanceof GatewayError))
    return null;
  const code =
    error.failure ?? (error.status === 400 || error.status === 413 ? ('model_error' as const) : null);
  return code && { code, message: error.message };
}
