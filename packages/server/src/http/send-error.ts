/** Refusals and failures on the wire: one shape and the same headers, wherever they come from. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { databaseFault } from './database-faults.ts';
import { ApiError, noSuchPath } from './errors.ts';
import { LARGE_BYTES } from './large-json.ts';
import { retryHeaders } from './rate-limit.ts';

/** Requests that the HTTP parser refuses never reach a route; they get the same shape and headers. */
export function sendClientError(
  error: NodeJS.ErrnoException,
  socket: Duplex & { writable: boolean },
  headersOf: (id: string) => Record<string, string>,
): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
  const id = randomUUID();
  const api =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? new ApiError('headers_too_large', 'The request headers are too large: at most 64 KiB.')
      : new ApiError('invalid_request', 'This is not a valid HTTP request.');
  const body = JSON.stringify(api.body(id));
  const reason = api.status === 431 ? 'Request Header Fields Too Large' : 'Bad Request';
  const headers = {
    ...headersOf(id),
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  };
  socket.end(
    `HTTP/1.1 ${api.status} ${reason}\r\n${Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}`)
      .join('\r\n')}\r\n\r\n${body}`,
  );
}

/** What the caller gets for any error; what is unknown is a 500 without details. */
function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const { code, statusCode } = error as { code?: string; statusCode?: number };
  if (code === 'FST_ERR_BAD_URL' || code === 'FST_ERR_ASYNC_CONSTRAINT') return noSuchPath(error);
  if (
    code === 'FST_ERR_CTP_INVALID_CONTENT_LENGTH' ||
    code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE' ||
    code === 'FST_ERR_CTP_INVALID_TYPE'
  )
    return new ApiError(
      'unsupported_media_type',
      'Send the body with a valid Content-Type and Content-Length.',
      { cause: error },
    );
  const fault = databaseFault(error);
  if (fault) return fault;
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return new ApiError('invalid_request', 'This is not a valid request.', { cause: error });
  return new ApiError(
    'internal',
    'Something failed on our side. Retry with the same Idempotency-Key; tell the operator the requestId when it stays.',
    { cause: error },
  );
}

/** A refused caller need not send megabytes to be heard again: its connection ends with the answer. */
const hasMuchToCome = ({ complete, headers }: IncomingMessage): boolean =>
  !complete &&
  (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > LARGE_BYTES);

export interface Failed {
  request: FastifyRequest;
  reply: FastifyReply;
  /** Those of every answer. */
  headers: Record<string, string>;
}

/** Answers with an error, and logs it where it is a fault of ours. */
export function sendError(
  ctx: Pick<Context, 'log'>,
  error: unknown,
  { request, reply, headers }: Failed,
): FastifyReply {
  const api = toApiError(error);
  if (api.status >= 500)
    ctx.log[api.code === 'internal' ? 'error' : 'warn'](
      {
        err: api.cause ?? api,
        requestId: request.id,
        method: request.method,
        url: request.routeOptions?.url,
      },
      api.message,
    );
  const { operationId } = api as ApiError & { operationId?: string };
  if (operationId) void reply.header('x-operation-id', operationId);
  return reply
    .code(api.status)
    .headers({
      ...headers,
      ...(hasMuchToCome(request.raw) ? { connection: 'close' } : {}),
      ...(api.status === 503 ? retryHeaders(1) : {}),
      ...api.headers,
      'content-type': 'application/json; charset=utf-8',
    })
    .send(JSON.stringify(api.body(request.id)));
}
