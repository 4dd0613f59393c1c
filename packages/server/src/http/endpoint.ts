/**
 * From a request to an operation and back: permission and app scope, schema, receipt, operation. The order
 * of refusals is fixed: rate limit, route, authentication (server.ts) - permission, schema, receipt (here)
 * - resource, state (the operation).
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { isId, NO_ID } from '../ids.ts';
import { fingerprint } from './fingerprint.ts';
import type { Answer, Receipts, WriteRequest } from './write-request.ts';
import { sendAnswer, sendReply } from './answer.ts';
import type { AnswerHeaders } from './answer.ts';
import { authorize, requireSameOrigin } from './authorize.ts';
import { requireCapability } from './capabilities.ts';
import { invalid } from './errors.ts';
import type { Field } from './errors.ts';
import { idempotencyKeyOf } from './idempotency-key.ts';
import type { LargeJson } from './large-json.ts';
import { PLATFORM } from './operation.ts';
import type { Call, ClaimedOperation, Operation, Route, WriteOperation } from './operation.ts';
import { PARAM_PREFIX } from './path-params.ts';
import type { Principal } from './principal.ts';
import { bodyBytes, BodyReader, contentTypeOf } from './request-body.ts';
import type { ReadBody } from './request-body.ts';
import type { StreamPlaces } from './stream-places.ts';
import { NO_FIELDS } from './schemas.ts';
import { compile } from './validate.ts';

const ANONYMOUS: Principal = {
  kind: 'session',
  orgId: '',
  actorId: '',
  accountId: null,
  userId: null,
  credentialId: null,
  role: null,
  permissions: new Set(),
  projectIds: null,
  platformApi: true,
};

type Known = FastifyRequest & { principal?: Principal };
const isRead = ({ method }: FastifyRequest) => method === 'GET' || method === 'HEAD';
type HeadersOf = (request: FastifyRequest) => Record<string, string>;

interface EndpointParts {
  receipts: Receipts;
  largeJson: LargeJson;
  headersOf: HeadersOf;
  streamPlaces: StreamPlaces;
}

/** The Fastify handlers of a route: `permit` before the body is read, `handle` after. */
export class Endpoint {
  readonly #ctx: Context;
  readonly #route: Route;
  readonly #receipts: Receipts;
  /** The headers of every answer, for those that are written past Fastify. */
  readonly #headersOf: HeadersOf;
  readonly #streamPlaces: StreamPlaces;
  readonly #api: 'platform' | 'direct';
  readonly #permissions: string[];
  readonly #checkQuery: (query: unknown) => Field[];
  readonly #bodies: BodyReader;

  constructor(ctx: Context, route: Route, parts: EndpointParts) {
    const { access, query } = route.operation;
    this.#ctx = ctx;
    this.#route = route;
    this.#receipts = parts.receipts;
    this.#headersOf = parts.headersOf;
    this.#streamPlaces = parts.streamPlaces;
    this.#api = route.path.startsWith(PLATFORM) ? 'platform' : 'direct';
    this.#permissions = typeof access === 'object' && 'permissions' in access ? [...access.permissions] : [];
    this.#checkQuery = compile(query ?? NO_FIELDS, 'query');
    this.#bodies = new BodyReader(route.operation, parts.largeJson);
  }

  /** Before the body is read: permission, app scope and capability. */
  permit(request: Known): void {
    const { access, capability } = this.#route.operation;
    const principal = access === 'public' ? ANONYMOUS : request.principal!;
    authorize(access, principal, this.#api, paramsOf(request));
    if (capability) requireCapability(this.#ctx.config, principal, capability);
    if (access === 'public') return;
    if (principal.kind === 'session' && !isRead(request)) requireSameOrigin(request);
  }

  /** Whether the time of a good answer is the caller's choice. */
  waits(query: unknown): boolean {
    return staysOpen(this.#route.operation, query);
  }

  async handle(request: Known, reply: FastifyReply): Promise<FastifyReply> {
    const { operation } = this.#route;
    const faults = this.#checkQuery(request.query);
    const { method } = this.#route;
    const read = await this.#bodies.read(request, request.principal?.orgId ?? '', () => ({
      method,
      path: canonicalPath(this.#route, paramsOf(request)),
      query: request.query,
    }));
    faults.push(...read.faults);
    const call = this.#callOf(request, reply, read.body);
    if (operation.kind === 'read' || operation.kind === 'plain') {
      if (faults.length) throw invalid(...faults);
      if (staysOpen(operation, call.query)) this.#streamPlaces.take(call.principal.orgId, reply);
      return sendReply(reply, await operation.handle(call), () => this.#headersOf(request));
    }
    const answer =
      operation.kind === 'write'
        ? await this.#write(operation, call, { ...read, faults })
        : await this.#writeClaimed(operation, call, { ...read, faults });
    return reply.sent ? reply : sendAnswer(reply, answer);
  }

  #callOf(request: Known, reply: FastifyReply, body: unknown): Call {
    const { shutdown } = this.#ctx;
    let signal: AbortSignal | undefined;
    return {
      ctx: this.#ctx,
      api: this.#api,
      body,
      principal: request.principal ?? ANONYMOUS,
      params: paramsOf(request),
      // A HEAD asks for what is known now: it waits for nothing.
      query:
        request.method === 'HEAD' ? { ...(request.query as object), waitSeconds: undefined } : request.query,
      bytes: bodyBytes(request),
      contentType: contentTypeOf(request),
      headers: request.headers,
      requestId: request.id,
      address: request.ip,
      // Most operations never ask for it, and each abort costs an exception with its stack: 6 % of a small
      // read.
      get signal() {
        return (signal ??= goneSignal(reply, shutdown));
      },
      hijack: (headers) => {
        reply.hijack();
        reply.raw.writeHead(200, { ...this.#headersOf(request), ...headers });
        return reply.raw;
      },
    };
  }

  async #write(
    operation: WriteOperation,
    call: Call,
    { legacyKeys, faults, fingerprint: known }: ReadBody,
  ): Promise<Answer & { headers?: AnswerHeaders }> {
    const key = idempotencyKeyOf(this.#route, call, legacyKeys, faults);
    const prepared = await operation.before?.(call);
    let headers: AnswerHeaders | undefined;
    const answer = await this.#receipts.writeOnce(
      this.#ctx,
      this.#writeRequest(call, key, known),
      async (tx, receipt) => {
        const result = await operation.handle(tx, call, receipt, prepared);
        headers = result.headers;
        return result;
      },
    );
    return { ...answer, ...(headers && !answer.replayed ? { headers } : {}) };
  }

  async #writeClaimed(
    operation: ClaimedOperation,
    call: Call,
    { legacyKeys, faults, fingerprint: known }: ReadBody,
  ): Promise<Answer> {
    if (faults.length) throw invalid(...faults);
    // A wrong or missing key is refused before the body is parsed, which may name a further one.
    idempotencyKeyOf(this.#route, call, legacyKeys, []);
    const { bodyDigest, legacyKey = [], prepared, ...claim } = await operation.prepare(call);
    const key = idempotencyKeyOf(this.#route, call, [...legacyKeys, ...legacyKey], []);
    const { mode, publishesPending } = operation;
    return this.#receipts.writeClaimed(
      this.#ctx,
      this.#writeRequest(call, key, known ?? this.#fingerprintOf(call, bodyDigest)),
      { mode, publishesPending, ...claim },
      (claimed) => operation.handle(call, claimed, prepared),
    );
  }

  #writeRequest(
    call: Call,
    key: string | undefined,
    known: Buffer = this.#fingerprintOf(call),
  ): WriteRequest {
    const { method } = this.#route;
    const { appId } = call.params;
    const projectId = appId && appId !== NO_ID ? appId : null;
    return {
      principal: call.principal,
      // Nobody can repeat a session's write without a key: a key that no other request has.
      key: key ?? `-${call.requestId}-${Math.random()}`,
      method,
      path: canonicalPath(this.#route, call.params),
      permissions: this.#permissions,
      requestId: call.requestId,
      direct: this.#api === 'direct',
      projectId,
      names: { projectId: projectId ?? bodyProjectOf(call.body), threadId: call.params.threadId ?? null },
      fingerprint: known,
    };
  }

  #fingerprintOf({ params, query, body }: Call, bodyDigest?: Buffer): Buffer {
    const { method } = this.#route;
    return fingerprint({ method, path: canonicalPath(this.#route, params), query, body, bodyDigest });
  }
}

/** As operations know them (`Call.params`). */
function paramsOf(request: FastifyRequest): Record<string, string> {
  const params: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.params as Record<string, string>)) {
    const prefix = PARAM_PREFIX[name];
    if (prefix) params[name] = isId(prefix, value) ? value : NO_ID;
    // PostgreSQL stores no NUL, and the path is a part of the receipt. No name has this character either.
    else params[name] = value.replaceAll('\0', '\uFFFD');
  }
  if (params.projectId !== undefined) params.appId = params.projectId;
  return params;
}

/** The project that a write without one in its path is for. */
function bodyProjectOf(body: unknown): string | null {
  const { projectId } = (body ?? {}) as { projectId?: unknown };
  return typeof projectId === 'string' ? projectId : null;
}

/** Aborted when the response's connection has ended, its answer sent or not, or the service stops. */
function goneSignal({ raw }: FastifyReply, shutdown: AbortSignal): AbortSignal {
  const gone = new AbortController();
  raw.once('close', () => gone.abort());
  if (raw.destroyed) gone.abort();
  return AbortSignal.any([gone.signal, shutdown]);
}

/** Whether the answer is an event stream, or waits for something. */
function staysOpen({ responses }: Operation, query: unknown): boolean {
  if (Number((query as { waitSeconds?: unknown }).waitSeconds ?? 0) > 0) return true;
  const answer = responses[200];
  return answer !== undefined && 'content' in answer && 'text/event-stream' in answer.content;
}

/** The path as receipts know it: the `/apps` form. */
function canonicalPath(route: Route, params: Record<string, string>): string {
  return route.path
    .replace(`${PLATFORM}/projects/:projectId`, `${PLATFORM}/apps/:appId`)
    .replace(/:(\w+)/g, (_, name: string) => params[name] ?? name);
}
