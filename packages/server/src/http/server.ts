/**
 * The HTTP server: request ids, rate limit, route, authentication, error shape. Knows no domain: app.ts
 * hands over what it needs.
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import Fastify, { LogController } from 'fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Principal } from './principal.ts';
import type { Context } from '../context.ts';
import { isDatabaseAway } from '../db/faults.ts';
import { readBody } from './body.ts';
import { serveDocs } from './docs.ts';
import { endpoint } from './endpoint.ts';
import { ApiError, invalid } from './errors.ts';
import type { Route } from './operation.ts';
import type { RateState } from '../limits/limiter.ts';
import { rateHeaders, retryHeaders } from './rate-limit.ts';

const BODY_LIMIT = 64 * 1024 * 1024;
const CLOSE_IDLE_MS = 20;
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'] as const;
const UNCOUNTED = new Set(['/health', '/health/ready']);

/** Who calls: `bucket` is what the rate limit counts. `refusal` is thrown once the route is known. */
export type Authenticate = (
  headers: IncomingMessage['headers'],
  address: string,
) => Promise<{ principal?: Principal; refusal?: ApiError; bucket: string }>;

export interface PreviewProxy {
  handles(request: IncomingMessage): boolean;
  request(request: IncomingMessage, response: ServerResponse): void;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

type Known = FastifyRequest & { principal?: Principal; refusal?: ApiError; rate?: RateState };

export async function createHttpServer(
  ctx: Context,
  parts: { routes: Route[]; authenticate: Authenticate; preview?: PreviewProxy },
): Promise<FastifyInstance> {
  const limiter = ctx.limits.limiter('ingress', ctx.config.rateLimit, ctx.config.rateWindowSeconds);
  const headersOf = (request: FastifyRequest) =>
    rateHeaders((request as Known).rate ?? limiter.peek(`address ${request.ip}`));

  const app: FastifyInstance = Fastify({
    loggerInstance: ctx.log as never,
    logController: new LogController({ disableRequestLogging: true }),
    // Nobody logs by the request's own logger: one each costs 3 % of a small read.
    childLoggerFactory: (logger) => logger,
    bodyLimit: BODY_LIMIT,
    exposeHeadRoutes: false,
    // Limits by address would count a proxy's callers as one, and an address that anybody may claim as many.
    trustProxy: ctx.config.trustedProxies.length ? ctx.config.trustedProxies : false,
    routerOptions: { maxParamLength: 1000, caseSensitive: true, ignoreTrailingSlash: false },
    forceCloseConnections: 'idle',
    genReqId: (request) => requestId(request.headers['x-request-id']),
    serverFactory: (handler) => serverWithPreviews(handler, parts.preview),
    clientErrorHandler: (error, socket) =>
      clientError(error as NodeJS.ErrnoException, socket, rateHeaders(limiter.peek('parse'))),
    frameworkErrors: (error, request, reply) => {
      void sendError(ctx, request, reply, error, headersOf(request));
    },
  }) as never;
  closeAnswered(app.server, ctx.shutdown);
  // Bodies are parsed by endpoint.ts (or by a worker): here they are bytes.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (request, payload, done) => readBody(request, payload, BODY_LIMIT, done));

  app.decorateRequest('principal', undefined);
  app.decorateRequest('refusal', undefined);
  app.decorateRequest('rate', undefined);

  app.addHook('onRequest', async (request: Known, reply) => {
    void reply.header('x-request-id', request.id);
    const isCounted = !UNCOUNTED.has(request.url.split('?')[0]!);
    request.rate = isCounted ? await admit(request) : limiter.peek(`address ${request.ip}`);
    void reply.headers(rateHeaders(request.rate));
    const { verdict, resetSeconds } = request.rate;
    if (verdict === 'refused')
      throw new ApiError('rate_limited', `Too many requests. Retry in ${resetSeconds} s.`, {
        headers: retryHeaders(resetSeconds),
      });
    if (verdict === 'away')
      throw new ApiError('unavailable', 'The rate limiter is away. Retry in a moment.', {
        headers: retryHeaders(resetSeconds),
      });
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1')
      throw invalid({ path: '/headers/host', message: 'is required' });
  });

  /** Counts the request for its caller; without the database neither is known. */
  async function admit(request: Known): Promise<RateState> {
    try {
      const known = await parts.authenticate(request.headers, request.ip);
      Object.assign(request, known);
      return await limiter.take(known.bucket);
    } catch (error) {
      if (!isDatabaseAway(error)) throw error;
      ctx.log.warn({ err: error, requestId: request.id }, 'a caller could not be looked up');
      return limiter.away();
    }
  }
  app.setErrorHandler((error, request, reply) => sendError(ctx, request, reply, error, headersOf(request)));
  app.setNotFoundHandler((request, reply) =>
    sendError(
      ctx,
      request,
      reply,
      new ApiError('not_found', 'There is no such path. See /docs for all of them.'),
      headersOf(request),
    ),
  );

  serveDocs(app, ctx.version, parts.routes);
  const methodsOf = new Map<string, string[]>();
  for (const route of parts.routes) {
    const { permit, handle } = endpoint(ctx, route, headersOf);
    methodsOf.set(route.path, [...(methodsOf.get(route.path) ?? []), route.method]);
    app.route({
      method: route.method,
      url: route.path,
      onRequest: async (request: Known) => {
        if (route.operation.access !== 'public' && request.refusal) throw request.refusal;
        permit(request);
      },
      handler: handle,
    });
  }
  for (const [url, allowed] of methodsOf) {
    app.route({
      method: METHODS.filter((m) => !allowed.includes(m)),
      url,
      onRequest: async () => {
        throw new ApiError('method_not_allowed', `This path takes ${allowed.join(', ')}.`, {
          headers: { allow: allowed.join(', ') },
        });
      },
      handler: async () => undefined,
    });
  }
  return app;
}

/**
 * A connection whose request is answered while the server closes, a long poll's, is idle only then: it
 * would hold the end up for its keep-alive.
 */
function closeAnswered(server: Server, shutdown: AbortSignal): void {
  shutdown.addEventListener(
    'abort',
    () => {
      const timer = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE_MS);
      server.once('close', () => clearInterval(timer));
    },
    { once: true },
  );
}

function requestId(header: string | string[] | undefined): string {
  return typeof header === 'string' && /^[\x21-\x7e]{1,128}$/.test(header) ? header : randomUUID();
}

const isWebSocket = (request: IncomingMessage) => request.headers.upgrade?.toLowerCase() === 'websocket';

function serverWithPreviews(
  handler: (request: IncomingMessage, response: ServerResponse) => void,
  preview?: PreviewProxy,
): Server {
  // Node's own answers to a request without Host and to an unknown Expect are bare: no body, none of our
  // headers.
  const options = {
    maxHeaderSize: 64 * 1024,
    keepAliveTimeout: 65_000,
    headersTimeout: 60_000,
    requestTimeout: 300_000,
    requireHostHeader: false,
    shouldUpgradeCallback: (request: IncomingMessage) =>
      isWebSocket(request) && (preview?.handles(request) ?? false),
  };
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    if (preview?.handles(request)) preview.request(request, response);
    else handler(request, response);
  };
  const server = createServer(options, serve).on('checkExpectation', serve);
  // Any other upgrade is a request like those without: its headers would pass what follows by.
  server.on('upgrade', (request, socket, head) => preview!.upgrade(request, socket, head));
  return server;
}

/** Requests that the HTTP parser refuses never reach a route; they get the same shape and headers. */
function clientError(
  error: NodeJS.ErrnoException,
  socket: Duplex & { writable: boolean },
  rate: Record<string, string>,
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
    ...rate,
    'x-request-id': id,
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

/** What the caller is told of an error that is none of ours. */
function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const { code, statusCode } = error as { code?: string; statusCode?: number };
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return new ApiError('request_too_large', 'The body is larger than 64 MiB.', { cause: error });
  if (code === 'FST_ERR_BAD_URL' || code === 'FST_ERR_ASYNC_CONSTRAINT')
    return new ApiError('not_found', 'There is no such path. See /docs for all of them.', { cause: error });
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
  if (isDatabaseAway(error))
    return new ApiError('unavailable', 'The database is away. Retry in a moment.', { cause: error });
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return new ApiError('invalid_request', 'This is not a valid request.', { cause: error });
  return new ApiError(
    'internal',
    'Something failed on our side. Retry with the same Idempotency-Key; tell the operator the requestId when it stays.',
    { cause: error },
  );
}

function sendError(
  ctx: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  error: unknown,
  rate: Record<string, string>,
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
      ...rate,
      'x-request-id': request.id,
      ...(api.status === 503 ? retryHeaders(1) : {}),
      ...api.headers,
      'content-type': 'application/json; charset=utf-8',
    })
    .send(JSON.stringify(api.body(request.id)));
}
