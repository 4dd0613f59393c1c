/**
 * From a request to an operation and back: permission and app scope, schema, receipt, operation. The order
 * of refusals is fixed: rate limit, route, authentication (server.ts) - permission, schema, receipt (here)
 * - resource, state (the operation).
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Principal } from './principal.ts';
import { may, seesProject } from './principal.ts';
import type { Context } from '../context.ts';
import { isId, NO_ID } from '../ids.ts';
import { fingerprint } from '../receipts/fingerprint.ts';
import { writeClaimed, writeOnce } from '../receipts/receipts.ts';
import type { Answer, WriteRequest } from '../receipts/write-request.ts';
import { ApiError, invalid } from './errors.ts';
import type { Field } from './errors.ts';
import { PLATFORM } from './operation.ts';
import type { Access, Call, Operation, Reply, Route } from './operation.ts';
import { PARAM_PREFIX } from './path-params.ts';
import { retryHeaders } from './rate-limit.ts';
import { Body } from './schemas.ts';
import { parseStrictJson } from './strict-json.ts';
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
const RANK = { user: 0, member: 1, admin: 2, owner: 3 } as const;

/** Throws 401 or 403 when the caller may not call the operation, whatever it asks for. */
export function authorize(
  access: Access,
  principal: Principal,
  api: 'platform' | 'direct',
  params: Record<string, string>,
): void {
  if (access === 'public') return;
  const refuse = (message: string) =>
    api === 'platform' || principal.kind === 'session'
      ? new ApiError('forbidden', message)
      : new ApiError('unauthorized', message);
  if (api === 'platform' && !principal.platformApi)
    throw new ApiError('forbidden', 'This organization has no access to the Platform API.');
  if (access === 'authenticated') return;
  if ('session' in access) {
    if (principal.kind === 'key')
      throw new ApiError('unauthorized', 'This takes a browser session; a service key is not enough.');
    if (RANK[principal.role ?? 'user'] < RANK[access.session])
      throw new ApiError('forbidden', `This takes the role ${access.session} in the organization.`);
    return;
  }
  const missing = access.permissions.filter((permission) => !may(principal, permission));
  if (missing.length) throw refuse(`This takes the permission ${missing.join(' and ')}.`);
  if (access.unrestricted && principal.projectIds !== null)
    throw refuse('A key that is restricted to projects may not do this.');
  if (api === 'platform' && params.appId !== undefined && !seesProject(principal, params.appId))
    throw new ApiError('forbidden', 'This key is restricted to other apps.');
}

/**
 * The cookie goes with every request that a browser makes, wherever from: writes need the page to be ours.
 */
function requireSameOrigin(request: FastifyRequest): void {
  const { origin, host } = request.headers;
  if (typeof origin === 'string' && URL.canParse(origin) && new URL(origin).host === host) return;
  throw new ApiError('forbidden', 'A write by a browser session needs an Origin header of this service.');
}

/** The body as a JSON object; `{}` where it is empty, undefined where the operation parses it itself. */
function parseBody(operation: Operation, request: FastifyRequest): unknown {
  const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  const isEmpty = bytes.length === 0;
  if (isEmpty && !operation.rawBody) return {};
  const type = (request.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();
  if (operation.rawBody) {
    if (!operation.rawBody.includes(type))
      throw new ApiError(
        'unsupported_media_type',
        `Send the body as ${operation.rawBody.join(' or ')}, with that Content-Type.`,
      );
    return undefined;
  }
  if (type !== 'application/json')
    throw new ApiError(
      'unsupported_media_type',
      'Send the body as application/json, with that Content-Type.',
    );
  let parsed: ReturnType<typeof parseStrictJson>;
  try {
    parsed = parseStrictJson(bytes);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw invalid({ path: '', message: error.message });
  }
  if (parsed.faults.length) throw invalid(...parsed.faults.map(({ path, message }) => ({ path, message })));
  if (parsed.value === null || typeof parsed.value !== 'object' || Array.isArray(parsed.value))
    throw invalid({ path: '', message: 'The body has to be a JSON object' });
  return parsed.value;
}

const KEY_FORM = /^[\x21-\x7e]{1,128}$/;

/** The Idempotency-Key, or undefined where it may be left out. */
function idempotencyKey(
  route: Route,
  call: Call,
  legacy: { path: string; value: string }[],
  fields: Field[],
): string | undefined {
  const header = call.headers['idempotency-key'];
  const key = typeof header === 'string' ? header : undefined;
  if (key !== undefined && !KEY_FORM.test(key))
    fields.push({ path: '/headers/idempotency-key', message: 'must be 1 to 128 visible ASCII characters' });
  const isRequired = call.principal.kind === 'key' || route.path.startsWith('/api/service-accounts');
  const wanted = key ?? (isRequired ? undefined : legacy[0]?.value);
  for (const { path, value } of legacy)
    if (wanted !== undefined && value !== wanted)
      fields.push({ path, message: 'must equal the Idempotency-Key' });
  if (fields.length) throw invalid(...fields);
  if (wanted === undefined && isRequired)
    throw new ApiError(
      'idempotency_key_required',
      'Send an Idempotency-Key header: 1 to 128 visible ASCII characters, new for each new operation.',
      { fields: [{ path: '/headers/idempotency-key', message: 'is required' }] },
    );
  return wanted;
}

function atPointer(body: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .reduce<unknown>(
      (value, part) =>
        value !== null && typeof value === 'object' ? (value as Record<string, unknown>)[part] : undefined,
      body,
    );
}

/** Builds the Fastify handlers of a route: `permit` before the body is read, `handle` after. */
export function endpoint(
  ctx: Context,
  route: Route,
  rateHeadersOf: (request: FastifyRequest) => Record<string, string>,
) {
  const { operation } = route;
  const api = route.path.startsWith(PLATFORM) ? ('platform' as const) : ('direct' as const);
  const isWrite = operation.kind === 'write' || operation.kind === 'claimed';
  const checkQuery = compile(operation.query ?? Body({}), 'query');
  const checkBody =
    operation.body && !operation.rawBody ? compile(operation.body, 'body') : compile(Body({}), 'body');
  const permissions =
    typeof operation.access === 'object' && 'permissions' in operation.access
      ? [...operation.access.permissions]
      : [];

  function paramsOf(request: FastifyRequest): Record<string, string> {
    const params: Record<string, string> = {};
    for (const [name, value] of Object.entries(request.params as Record<string, string>)) {
      const prefix = PARAM_PREFIX[name];
      params[name] = prefix && !isId(prefix, value) ? NO_ID : value;
    }
    if (params.projectId !== undefined) params.appId = params.projectId;
    return params;
  }

  /** Before the body is read: permission and app scope. */
  function permit(request: FastifyRequest): void {
    if (operation.access === 'public') return;
    const { principal } = request as FastifyRequest & { principal?: Principal };
    authorize(operation.access, principal!, api, paramsOf(request));
    if (principal!.kind === 'session' && request.method !== 'GET') requireSameOrigin(request);
  }

  async function handle(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    let signal: AbortSignal | undefined;
    const fields = checkQuery(request.query);
    const body = parseBody(operation, request);
    if (!operation.rawBody) fields.push(...checkBody(body));
    const call: Call = {
      ctx,
      api,
      body,
      principal: (request as FastifyRequest & { principal?: Principal }).principal ?? ANONYMOUS,
      params: paramsOf(request),
      query: request.query,
      bytes: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
      contentType: (request.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase(),
      headers: request.headers,
      requestId: request.id,
      address: request.ip,
      // Most operations never ask for it, and each abort costs an exception with its stack: 6 % of a small
      // read.
      get signal() {
        return (signal ??= goneSignal(reply, ctx.shutdown));
      },
      hijack: (headers) => {
        reply.hijack();
        reply.raw.writeHead(200, { ...rateHeadersOf(request), 'x-request-id': request.id, ...headers });
        return reply.raw;
      },
    };
    if (!isWrite) {
      if (fields.length) throw invalid(...fields);
      return send(reply, await operation.read!(call), request);
    }
    const answer =
      operation.kind === 'write' ? await transactional(call, fields) : await claimed(call, fields);
    return reply.sent ? reply : answered(reply, answer);
  }

  function legacyOf(body: unknown): { path: string; value: string }[] {
    return (operation.legacyKeys ?? []).flatMap((path) => {
      const value = atPointer(body, path);
      return typeof value === 'string' ? [{ path, value }] : [];
    });
  }

  function requestOf(call: Call, key: string, digest?: Buffer): WriteRequest {
    const path = canonicalPath(route, call.params);
    return {
      principal: call.principal,
      key,
      method: route.method,
      path,
      permissions,
      requestId: call.requestId,
      direct: api === 'direct',
      projectId: call.params.appId && call.params.appId !== NO_ID ? call.params.appId : null,
      fingerprint: fingerprint(route.method, path, call.query as Record<string, unknown>, call.body, digest),
    };
  }

  async function transactional(
    call: Call,
    fields: Field[],
  ): Promise<Answer & { headers?: Record<string, string | string[]> }> {
    const key = idempotencyKey(route, call, legacyOf(call.body), fields);
    const prepared = await operation.before?.(call);
    let headers: Record<string, string | string[]> | undefined;
    const run: Parameters<typeof writeOnce>[2] = async (tx, receipt) => {
      const result = await operation.write!(tx, call, receipt, prepared);
      headers = result.headers;
      return result;
    };
    // A session's write without a key is one of its own: nobody can repeat it.
    const answer = await writeOnce(ctx, requestOf(call, key ?? `-${call.requestId}-${Math.random()}`), run);
    return { ...answer, ...(headers && !answer.replayed ? { headers } : {}) };
  }

  async function claimed(call: Call, fields: Field[]): Promise<Answer> {
    if (fields.length) throw invalid(...fields);
    idempotencyKey(route, call, legacyOf(call.body), fields);
    const prepared = await operation.claim!.prepare(call);
    const key = idempotencyKey(route, call, [...legacyOf(call.body), ...(prepared.legacyKey ?? [])], []);
    const { mode, publishesPending } = operation.claim!;
    return writeClaimed(
      ctx,
      requestOf(call, key ?? `-${call.requestId}-${Math.random()}`, prepared.bodyDigest),
      { mode, publishesPending, scope: prepared.scope, onClaim: prepared.onClaim, look: prepared.look },
      (claim) => operation.claimed!(call, claim, prepared.prepared),
    );
  }

  function answered(
    reply: FastifyReply,
    answer: Answer & { headers?: Record<string, string | string[]> },
  ): FastifyReply {
    if (answer.operationId) void reply.header('x-operation-id', answer.operationId);
    if (answer.replayed) void reply.header('idempotent-replayed', 'true');
    if (answer.status === 503) void reply.headers(retryHeaders(1));
    if (answer.headers) void reply.headers(answer.headers);
    return reply
      .code(answer.status)
      .header('content-type', 'application/json; charset=utf-8')
      .send(answer.text);
  }

  function send(reply: FastifyReply, answer: Reply, request: FastifyRequest): FastifyReply {
    if ('hijack' in answer) {
      reply.hijack();
      answer.hijack(reply.raw, { ...rateHeadersOf(request), 'x-request-id': request.id });
      return reply;
    }
    if (answer.headers) void reply.headers(answer.headers);
    if ('stream' in answer) return reply.code(answer.status).send(answer.stream);
    return reply
      .code(answer.status)
      .header('content-type', 'application/json; charset=utf-8')
      .send(JSON.stringify(answer.body));
  }

  return { permit, handle };
}

/** Aborted when the response's connection has ended, its answer sent or not, or the service stops. */
function goneSignal({ raw }: FastifyReply, shutdown: AbortSignal): AbortSignal {
  const gone = new AbortController();
  raw.once('close', () => gone.abort());
  if (raw.destroyed) gone.abort();
  return AbortSignal.any([gone.signal, shutdown]);
}

/** The path as receipts know it: the `/apps` form. */
function canonicalPath(route: Route, params: Record<string, string>): string {
  return route.path
    .replace(`${PLATFORM}/projects/:projectId`, `${PLATFORM}/apps/:appId`)
    .replace(/:(\w+)/g, (_, name: string) => params[name] ?? name);
}
