/** Errors in the form of each wire's provider: agents know those, and which of them to repeat. */
import type { ServerResponse } from 'node:http';
import type { Wire } from '../config-file.ts';

export class GatewayError extends Error {
  readonly status: number;
  /** OpenAI's `code`. */
  readonly code: string | null;
  /** The failure that the run records; null: none that counts as its model's. */
  readonly failure: 'model_error' | 'spend_limit_reached' | null;
  constructor(
    status: number,
    message: string,
    { code = null, failure = null }: { code?: string | null; failure?: GatewayError['failure'] } = {},
  ) {
    super(message);
    this.name = 'GatewayError';
    this.status = status;
    this.code = code;
    this.failure = failure;
  }
}

/** No money is left. Agents do not repeat a 402, or, on the wire of Responses, a 429 with this code. */
export const overBudget = (wire: Wire, message: string) =>
  new GatewayError(wire === 'openai-responses' ? 429 : 402, message, {
    code: 'insufficient_quota',
    failure: 'spend_limit_reached',
  });

const ANTHROPIC_TYPES: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};
const OPENAI_TYPES: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'insufficient_quota',
  403: 'permission_error',
  404: 'invalid_request_error',
  413: 'invalid_request_error',
  429: 'insufficient_quota',
};

export function errorBody(
  wire: Wire,
  { status, message, code }: Pick<GatewayError, 'status' | 'message' | 'code'>,
): string {
  if (wire === 'anthropic')
    return JSON.stringify({
      type: 'error',
      error: { type: ANTHROPIC_TYPES[status] ?? 'api_error', message },
    });
  return JSON.stringify({
    error: { message, type: OPENAI_TYPES[status] ?? 'server_error', param: null, code },
  });
}

/** The last event of a stream that cannot go on. */
export function errorEvent(wire: Wire, message: string): string {
  if (wire === 'anthropic')
    return `event: error\ndata: ${JSON.stringify({ type: 'error', error: { type: 'api_error', message } })}\n\n`;
  if (wire === 'openai-chat')
    return `data: ${JSON.stringify({ error: { message, type: 'server_error', param: null, code: 'upstream_error' } })}\n\n`;
  return `event: error\ndata: ${JSON.stringify({ type: 'error', code: 'upstream_error', message, param: null, sequence_number: 0 })}\n\n`;
}

/** `x-should-retry: false`: what is worth repeating has been repeated here. */
export function sendError(
  res: ServerResponse,
  wire: Wire,
  error: Pick<GatewayError, 'status' | 'message' | 'code'>,
): void {
  if (res.headersSent || res.destroyed) return void res.destroy();
  const body = errorBody(wire, error);
  // The rest of an unread body is not waited for.
  res.writeHead(error.status, {
    ...(res.req.complete ? {} : { connection: 'close' }),
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'x-should-retry': 'false',
  });
  res.end(body);
}
