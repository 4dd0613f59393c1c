/** One call of an agent, from its request to its settlement. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { modelOf } from '../agents/index.ts';
import type { Context } from '../context.ts';
import type { ProviderEntry } from '../config-file.ts';
import { unsealModelKey } from '../usage/index.ts';
import { bodyLength, readBody } from './body.ts';
import { callerOf } from './caller.ts';
import type { CallingRun } from './caller.ts';
import { meteredCall } from './metered-call.ts';
import { openPlaces } from './places.ts';
import type { Places } from './places.ts';
import { relayFree } from './relay-free.ts';
import { wireOf } from './route.ts';
import type { Endpoint } from './route.ts';
import { recordFailure } from './settle.ts';
import { shapeRequest } from './shape-request.ts';
import { openUpstream } from './upstream.ts';
import type { UpstreamPool, UpstreamTimes } from './upstream.ts';
import { GatewayError } from './wire-errors.ts';
import type { RelayTo } from './relay.ts';

export type CallContext = Pick<Context, 'config' | 'db' | 'bus' | 'log' | 'secretKey'>;

/** What a worker's calls share. */
export interface Calls {
  upstream: UpstreamPool;
  places: Places;
  /** Ids of the calls that this process relays: it keeps their leases. */
  open: Set<number>;
  /**
   * Runs `work` with a signal that is aborted when the agent goes away, or the gateway closes (reason
   * 'closed').
   */
  during(res: ServerResponse, work: (signal: AbortSignal) => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

export interface ModelCall {
  run: CallingRun;
  providerName: string;
  provider: ProviderEntry;
  endpoint: Endpoint;
  key: string | null;
}

const AT_ONCE = { atOnce: 16, waiting: 64, waitMs: 120_000 };
/** A body is held in several forms while its call is under way: a run's calls have 64 MiB of them at once. */
const BYTES_OF_PLACE = 4 * 1024 * 1024;
const CLOSE_MS = 5_000;

export function openCalls(times: UpstreamTimes): Calls {
  const upstream = openUpstream(times);
  const underWay = new Map<AbortController, Promise<void>>();
  let isClosed = false;
  return {
    upstream,
    places: openPlaces(AT_ONCE),
    open: new Set(),
    async during(res, work) {
      const gone = new AbortController();
      if (isClosed || res.destroyed) return void res.destroy();
      res.once('close', () => gone.abort('gone'));
      const done = work(gone.signal);
      underWay.set(
        gone,
        done.catch(() => {}),
      );
      try {
        await done;
      } finally {
        underWay.delete(gone);
      }
    },
    async close() {
      isClosed = true;
      for (const gone of underWay.keys()) gone.abort('closed');
      const limit = new Promise<void>((resolve) => {
        setTimeout(resolve, CLOSE_MS).unref();
      });
      await Promise.race([Promise.all(underWay.values()), limit]);
      await upstream.close();
    },
  };
}

/**
 * Answers the call. Throws a GatewayError for what is refused here; the run is told of what counts as a
 * failure of its model.
 */
export async function callModel(
  ctx: CallContext,
  calls: Calls,
  { provider: providerName, endpoint }: { provider: string; endpoint: Endpoint },
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const { run, keySealed } = await callerOf(ctx, req, providerName);
  const provider = providerOf(ctx, run, providerName);
  const wire = wireOf(endpoint, provider.wires);
  if (!provider.wires.includes(wire))
    throw new GatewayError(
      404,
      `The provider ${providerName} does not speak ${wire}. It speaks ${provider.wires.join(', ')}.`,
    );
  await calls.during(res, async (signal) => {
    const to: RelayTo = { res, wire, provider: providerName, signal };
    try {
      const key = keySealed && unsealModelKey(ctx.secretKey, run.org_id, providerName, keySealed);
      if (key === null && provider.key === 'required')
        throw new GatewayError(
          401,
          `The organization has no key of the model provider ${providerName}. Set it with PUT /api/model-keys/${providerName}.`,
          { failure: 'model_error' },
        );
      const call: ModelCall = { run, providerName, provider, endpoint, key };
      const free = await calls.places.take(run.id, placesOf(req), signal);
      try {
        if (endpoint === 'models') return await relayFree(calls, call, null, req, to);
        const shaped = shapeRequest(wire, await readBody(req, signal));
        if (endpoint === 'messages/count_tokens') await relayFree(calls, call, shaped, req, to);
        else await meteredCall(ctx, calls, call, shaped, req, to);
      } finally {
        free();
      }
    } catch (error) {
      if (signal.aborted) return void res.destroy();
      const failure = failureOf(error, endpoint);
      if (failure) await recordFailure(ctx, { id: run.id, threadId: run.thread_id }, failure);
      throw error;
    }
  });
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

/** What the agent may go on without (lists, counts of tokens, too many at once) is no failure of its run. */
function failureOf(error: unknown, endpoint: Endpoint) {
  if (endpoint === 'models' || endpoint === 'messages/count_tokens' || !(error instanceof GatewayError))
    return null;
  const code =
    error.failure ?? (error.status === 400 || error.status === 413 ? ('model_error' as const) : null);
  return code && { code, message: error.message };
}
