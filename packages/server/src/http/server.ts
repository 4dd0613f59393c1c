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
import type { Context } from '../context.ts';
import { Admission } from './admission.ts';
import type { AdmittedRequest, Authenticate } from './admission.ts';
import { readBody } from './body.ts';
import { compressAnswers } from './compression.ts';
import { boundConnections, proxyAddresses } from './connections.ts';
import { serveDocs } from './docs.ts';
import { Endpoint } from './endpoint.ts';
import { LargeJson } from './large-json.ts';
import { closeAnswered, sayWhenLeaving } from './leaving.ts';
import { noSuchPath } from './errors.ts';
import { hasTwoHosts } from './hosts.ts';
import { Intake } from './intake.ts';
import type { ServerMetrics } from '../metrics/table.ts';
import { bodyLimitOf } from './operation.ts';
import type { Route } from './operation.ts';
import { refuseOtherMethods } from './refuse-methods.ts';
import { sendClientError, sendError } from './send-error.ts';
import { StreamPlaces } from './stream-places.ts';
import type { Receipts } from './write-request.ts';

export interface PreviewProxy {
  handles(request: IncomingMessage): boolean;
  request(request: IncomingMessage, response: ServerResponse): void;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

/** What takes connections over for good. */
export type Upgrades = Pick<PreviewProxy, 'handles' | 'upgrade'>;

interface Parts {
  routes: Route[];
  authenticate: Authenticate;
  receipts: Receipts;
  preview?: PreviewProxy;
  upgrades?: Upgrades;
}

export async function createHttpServer(ctx: Context, parts: Parts): Promise<FastifyInstance> {
  const admission = new Admission(ctx, parts.authenticate);
  const refuse = (error: unknown, request: FastifyRequest, reply: FastifyReply) =>
    sendError(ctx, error, { request, reply, headers: admission.headersOf(request) });
  const app: FastifyInstance = Fastify({
    loggerInstance: ctx.log as never,
    logController: new LogController({ disableRequestLogging: true }),
    // Nobody logs by the request's own logger: one each costs 3 % of a small read.
    childLoggerFactory: (logger) => logger,
    // HEAD is a GET whose body is not written: a route of its own would not know the body's compressed length.
    exposeHeadRoutes: false,
    // Limits by address would count a proxy's callers as one, and an address that anybody may claim as many.
    trustProxy: ctx.config.trustedProxies.length ? ctx.config.trustedProxies : false,
    routerOptions: { maxParamLength: 1000, caseSensitive: true, ignoreTrailingSlash: false },
    forceCloseConnections: 'idle',
    genReqId: (request) => requestId(request.headers['x-request-id']),
    serverFactory: (handler) => serverWithPreviews(handler, parts),
    clientErrorHandler: (error, socket) =>
      sendClientError(error as NodeJS.ErrnoException, socket, (id) => admission.headersOfUnparsed(id)),
    frameworkErrors: (error, request, reply) => {
      void refuse(error, request, reply);
    },
  }) as never;
  sayWhenLeaving(app, ctx.leaving);
  closeAnswered(app.server, ctx.shutdown);
  boundConnections(app.server, {
    limit: ctx.config.addressConnections,
    isExempt: proxyAddresses(ctx.config.trustedProxies),
    onRefusal: (address) =>
      ctx.log.warn({ address }, 'an address has as many connections as HEADRACE_ADDRESS_CONNECTIONS allows'),
  });
  // Bodies are parsed by endpoint.ts (or by a worker): here they are bytes.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (request, payload, done) =>
    readBody(
      request,
      payload,
      { limit: request.routeOptions.bodyLimit, arrival: (request as AdmittedRequest).arrival! },
      done,
    ),
  );
  await compressAnswers(app);

  app.decorateRequest('principal', undefined);
  app.decorateRequest('refusal', undefined);
  app.decorateRequest('rate', undefined);
  app.decorateRequest('arrival', undefined);

  app.addHook('onRequest', async (request: AdmittedRequest, reply) => {
    await admission.admit(request, reply);
    // Here, and not in a handler: that would read the body first.
    if (request.is404) throw noSuchPath();
  });
  app.setErrorHandler(refuse);

  const largeJson = new LargeJson();
  app.addHook('onClose', () => largeJson.close());
  serveDocs(app, ctx.version, parts.routes);
  const streamPlaces = new StreamPlaces(ctx.config.organizationBounds.streams);
  ctx.metrics.beforeRead(() =>
    ctx.metrics.set('headrace_streams_open', { labels: {}, value: streamPlaces.count }),
  );
  addRoutes(
    app,
    { routes: parts.routes, metrics: ctx.metrics },
    (route) =>
      new Endpoint(ctx, route, {
        receipts: parts.receipts,
        largeJson,
        headersOf: (request) => admission.headersOf(request),
        streamPlaces,
      }),
  );
  return app;
}

/** The routes, HEAD wherever GET is, and 405 for the other methods of their paths. */
function addRoutes(
  app: FastifyInstance,
  { routes, metrics }: { routes: Route[]; metrics: ServerMetrics },
  endpointOf: (route: Route) => Endpoint,
): void {
  const methodsOf = new Map<string, string[]>();
  const intake = new Intake();
  for (const route of routes) {
    const endpoint = endpointOf(route);
    const methods = route.method === 'GET' ? ['GET', 'HEAD'] : [route.method];
    methodsOf.set(route.path, [...(methodsOf.get(route.path) ?? []), ...methods]);
    app.route({
      method: methods,
      url: route.path,
      bodyLimit: bodyLimitOf(route.operation),
      onRequest: async (request: AdmittedRequest, reply) => {
        if (route.operation.access !== 'public' && request.refusal) throw request.refusal;
        endpoint.permit(request);
        if (route.method !== 'GET') request.arrival = intake.arrival(request.ip, request.raw, reply.raw);
      },
      handler: (request: AdmittedRequest, reply) => endpoint.handle(request, reply),
      ...(metrics.isOn ? { onResponse: measured(metrics, route, endpoint) } : {}),
    });
  }
  for (const [url, allowed] of methodsOf) refuseOtherMethods(app, url, allowed);
}

function measured(metrics: ServerMetrics, { operation: { name } }: Route, endpoint: Endpoint) {
  return (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    const code = reply.statusCode;
    if (code >= 400 || !endpoint.waits(request.query))
      metrics.observe(
        'headrace_http_request_duration_seconds',
        { operation: name, class: code < 400 ? 'ok' : code < 500 ? '4xx' : '5xx' },
        reply.elapsedTime / 1000,
      );
    done();
  };
}

function requestId(header: string | string[] | undefined): string {
  return typeof header === 'string' && /^[\x21-\x7e]{1,128}$/.test(header) ? header : randomUUID();
}

const isWebSocket = (request: IncomingMessage) => request.headers.upgrade?.toLowerCase() === 'websocket';

function serverWithPreviews(
  handler: (request: IncomingMessage, response: ServerResponse) => void,
  { preview, upgrades }: Pick<Parts, 'preview' | 'upgrades'>,
): Server {
  // Node's own answers to a request without Host and to an unknown Expect are bare: no body, none of our
  // headers.
  const options = {
    maxHeaderSize: 64 * 1024,
    keepAliveTimeout: 65_000,
    headersTimeout: 60_000,
    // A push by git over a slow line. Bodies that this process reads have less time, see body.ts.
    requestTimeout: 30 * 60_000,
    requireHostHeader: false,
    shouldUpgradeCallback: (request: IncomingMessage) =>
      isWebSocket(request) && (isVisit(request) || isTakenOver(request)),
  };
  // What names two hosts is nobody's visit: admission refuses it.
  const isVisit = (request: IncomingMessage) => !hasTwoHosts(request) && (preview?.handles(request) ?? false);
  const isTakenOver = (request: IncomingMessage) =>
    !hasTwoHosts(request) && (upgrades?.handles(request) ?? false);
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    if (isVisit(request)) preview!.request(request, response);
    else handler(request, response);
  };
  const server = createServer(options, serve).on('checkExpectation', serve);
  // A client that asks before it sends its body is answered once it is known who it is (http/intake.ts).
  server.on('checkContinue', (request, response) => {
    if (isVisit(request)) response.writeContinue();
    serve(request, response);
  });
  // Any other upgrade is a request like those without: its headers would pass what follows by.
  server.on('upgrade', (request, socket, head) =>
    (isVisit(request) ? preview! : upgrades!).upgrade(request, socket, head),
  );
  return server;
}
