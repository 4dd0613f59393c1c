/**
 * Errors as the provider of each wire would say them: agents know those, and which of them are worth a
 * repetition.
 */
import type { ServerResponse } from 'node:http';
import type { Wire } from '../config-file.ts';

export class GatewayError extends Error {
  readonly status: number;
  /** OpenAI's `code`. */
  readonly code: string | null;
  /** What the run is told had failed; null: nothing that counts as a failure of the model. */
  readonly failure: 'model_error' | 'spend_limit_reached' | null;
  constructor(
    status: number,
    message: string,
    { code = null, failure = null }: { code?: string | null; failure?: GatewayError['failure'] } = {},
  ) {
    super(message);
    this.name = 'GatewayError';
    Object.assign(this, { status, code, failure });
    this.status = status;
    this.code = code;
    this.failure = failure;
  }
}

/**
 * Where money ends. 402 is the status that agents of these wires do not repeat; of Responses it is 429 with
 * this code.
 */
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

/** `x-should-retry: false`: whatever is worth repeating was repeated here. */
export function sendError(
  res: ServerResponse,
  wire: Wire,
  error: Pick<GatewayError, 'status' | 'message' | 'code'>,
): void {
  if (res.headersSent || res.destroyed) return void res.destroy();
  const body = errorBody(wire, error);
  // What is left of a body that was not read is not waited for.
  res.writeHead(error.status, {
    ...(res.req.complete ? {} : { connection: 'close' }),
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'x-should-retry': 'false',
  });
  res.end(body);
}
