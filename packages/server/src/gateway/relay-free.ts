/** Calls that cost nothing: a provider's list of models, a count of tokens. */
import { pipeline } from 'node:stream/promises';
import type { Calls } from './calls.ts';
import type { ModelCall } from './model-call.ts';
import { relayRefusal } from './relay.ts';
import type { ShapedRequest } from './shape-request.ts';
import { answerHeaders, upstreamHeaders, upstreamUrl } from './upstream-request.ts';
import { GatewayError } from './wire-errors.ts';

export async function relayFree(
  calls: Calls,
  { provider, endpoint, key, req, to }: ModelCall,
  shaped: ShapedRequest | null,
): Promise<void> {
  const headers = {
    ...upstreamHeaders(req.headers, provider, to.wire, key),
    ...(shaped ? { 'content-type': 'application/json' } : {}),
  };
  let answer;
  try {
    answer = await calls.upstream.send({
      url: upstreamUrl(provider, endpoint),
      method: shaped ? 'POST' : 'GET',
      headers,
      body: shaped ? JSON.stringify(shaped.body) : undefined,
      signal: to.signal,
    });
  } catch (error) {
    throw new GatewayError(502, `The model provider ${to.provider} could not be reached.`, {
      code: (error as { code?: string }).code ?? null,
    });
  }
  if (answer.statusCode < 200 || answer.statusCode >= 300) return (await relayRefusal(answer, to, key)).end();
  to.res.writeHead(answer.statusCode, answerHeaders(answer.headers));
  await pipeline(answer.body, to.res).catch(() => {
    to.res.destroy();
  });
}
