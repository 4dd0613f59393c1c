/** An in-memory service behind `fetch`: users' tests need no server, no network, and no agent. */
import type { Reply } from './call.ts';
import { Fault, STATUS, invalid } from './fault.ts';
import type { FaultCode } from './fault.ts';
import { findRoute } from './routes.ts';
import type { Found, OperationName } from './routes.ts';
import { writeOnce } from './receipts.ts';
import { textEntry } from './files.ts';
import { addSource, moveHead, sourceOf } from './sources.ts';
import { World } from './world.ts';
import type { BuildScript, Shell } from './world.ts';

export interface TestServiceOptions {
  /** Default `https://headrace.test`. Nothing listens there. */
  url?: string;
  /** Default `hrk_test`. */
  key?: string;
  /** Milliseconds since 1970, for timestamps in answers; default `Date.now`. */
  now?: () => number;
  /** The pause before each step of a run, apply or build; default 0. */
  stepMs?: number;
  /** Runs `sh` blocks; returns undefined for commands that it does not support. */
  shell?: Shell;
  /** `ask`: each `sh` block waits for an approval. */
  approvals?: 'allow' | 'ask';
}

export interface Failure {
  /** Default `unavailable`; `network`: the connection breaks. */
  code?: FaultCode | 'network';
  message?: string;
  /** Seconds, for 429 and 503; default 1. */
  retryAfter?: number;
  /** `after`: the write happens, but its answer is lost. Default `before`. */
  when?: 'before' | 'after';
  /** How many calls fail; default 1. */
  times?: number;
}

export interface SentRequest {
  /** Null for operations that the test service does not support. */
  operation: OperationName | null;
  method: string;
  path: string;
  idempotencyKey: string | null;
}

export interface TestService {
  readonly url: string;
  readonly key: string;
  readonly fetch: typeof fetch;
  /** The calls so far, in order. */
  readonly requests: readonly SentRequest[];
  /** Makes the next calls of an operation fail, by the name of the client's method. */
  failNext(operation: OperationName, failure?: Failure): void;
  /** Delays the answer to the next call of an operation. */
  delayNext(operation: OperationName, ms: number): void;
  /** Decides how the next build ends; without it, a build is ready and its output is the source. */
  buildNext(script: BuildScript): void;
  /** Moves an app's head as another draft's apply would; null deletes a file. Returns the new source's id. */
  moveHead(appId: string, files: Record<string, string | null>): string;
  /** Makes runs, applies and builds stop before their next step. */
  pause(): void;
  resume(): void;
  /** Resolves when the only open work is work that waits for an approval. */
  idle(): Promise<void>;
  /** Expires the cursors of all events so far: they answer 410 `cursor_expired`. */
  expireCursors(): void;
  /** Breaks open streams; a reader that resumes misses nothing. */
  dropStreams(): void;
}

const ROOT = '/api/platform/v1';
const RATE_LIMIT = 600;

/**
 * A service in memory: apps, sources, the head, threads with the agent `scripted`, applies, builds, events, receipts.
 *
 *     const service = createTestService();
 *     const headrace = createClient({ baseUrl: service.url, key: service.key, fetch: service.fetch });
 *
 * It answers as the service does, with these simplifications: files are merged as a whole, so a file that both sides
 * changed is a conflict; a build runs nothing; `sh` blocks support `echo`, `rm`, `true`, `false` and `exit`, and
 * `patch` blocks fail. Everything else is 501 `not_configured`.
 */
export function createTestService(options: TestServiceOptions = {}): TestService {
  const service = new Service(options);
  const { world } = service;
  return {
    url: service.url,
    key: service.key,
    fetch: (input, init) => service.fetch(new Request(input, init)),
    requests: service.requests,
    failNext: (operation, { times = 1, ...failure } = {}) => {
      for (let i = 0; i < times; i++) service.plan(operation, { failure });
    },
    delayNext: (operation, delayMs) => service.plan(operation, { delayMs }),
    buildNext: (script) => world.settings.builds.push(script),
    moveHead: (appId, files) => changeHead(world, appId, files),
    pause: () => world.work.pause(),
    resume: () => world.work.resume(),
    idle: () => world.work.idle(),
    expireCursors: () => world.log.expireCursors(),
    dropStreams: () => world.log.dropStreams(),
  };
}

function changeHead(world: World, appId: string, changes: Record<string, string | null>): string {
  const app = world.app(appId);
  const head = app.app.headSourceId;
  if (head === null) throw new Error('The app has no head yet.');
  const files = new Map(sourceOf(app, head).files);
  for (const [path, text] of Object.entries(changes))
    if (text === null) files.delete(path);
    else files.set(path, textEntry(text));
  const { id } = addSource(world, app, files, { origin: 'apply', parentSourceIds: [head] });
  moveHead(world, app, id, null);
  return id;
}

interface Plan {
  failure?: Omit<Failure, 'times'>;
  delayMs?: number;
}

class Service {
  readonly url: string;
  readonly key: string;
  readonly world: World;
  readonly requests: SentRequest[] = [];
  readonly #plans = new Map<OperationName, Plan[]>();
  #count = 0;

  constructor(options: TestServiceOptions) {
    this.url = (options.url ?? 'https://headrace.test').replace(/\/+$/, '');
    this.key = options.key ?? 'hrk_test';
    this.world = new World(options);
  }

  plan(operation: OperationName, plan: Plan): void {
    this.#plans.set(operation, [...(this.#plans.get(operation) ?? []), plan]);
  }

  async fetch(request: Request): Promise<Response> {
    const { method, headers, signal } = request;
    signal.throwIfAborted();
    const url = new URL(request.url);
    if (!request.url.startsWith(`${this.url}/`))
      throw new TypeError(`fetch failed: ${url.origin} is not ${this.url}`);
    const text = request.body === null ? '' : await request.text();
    const found = findRoute(method, this.#platformPath(url.pathname));
    const operation = found?.name ?? null;
    const idempotencyKey = headers.get('idempotency-key');
    this.requests.push({ operation, method, path: url.pathname, idempotencyKey });
    const { failure, delayMs } = (operation && this.#plans.get(operation)?.shift()) ?? {};
    if (delayMs) await abortable(new Promise((resolve) => setTimeout(resolve, delayMs)), signal);
    if (failure && failure.when !== 'after') return this.#fail(failure);
    const response = await abortable(this.#answer(request, url, text, found), signal);
    return failure ? this.#fail(failure) : response;
  }

  /** The Platform path for project and thread paths of the Direct API, which give the same answers. */
  #platformPath(path: string): string {
    const [, kind, id, rest = ''] = /^\/api\/(threads|projects)\/([^/]+)(\/.*)?$/.exec(path) ?? [];
    if (kind === 'projects') return `${ROOT}/apps/${id}${rest}`;
    if (kind !== 'threads') return path;
    const app = [...this.world.apps.values()].find(({ threads }) => threads.has(decodeURIComponent(id!)));
    return `${ROOT}/apps/${app?.app.id ?? 'none'}/threads/${id}${rest}`;
  }

  #fail({
    code = 'unavailable',
    message = 'The test asked for this failure.',
    retryAfter,
  }: Failure): Response {
    if (code === 'network') throw new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } });
    return this.#refusal(new Fault(code, message), retryAfter);
  }

  async #answer(request: Request, url: URL, text: string, found: Found | null): Promise<Response> {
    try {
      const { headers, signal, method } = request;
      const bearer = headers.get('authorization')?.replace(/^Bearer /i, '');
      if ((headers.get('x-api-key') ?? bearer) !== this.key)
        throw new Fault('unauthorized', 'Send a service key that is valid as X-Api-Key.');
      if (!found) throw unknown(`${method} ${url.pathname}`);
      const { route, ids } = found;
      for (const name of url.searchParams.keys())
        if (!route.query.includes(name)) throw unknown(`query parameter ${name} of ${found.name}`);
      const { world } = this;
      const call = { world, ids, query: url.searchParams, body: bodyOf(headers, text), headers, signal };
      if (!route.takesKey) return this.#respond(route.status, await route.handle(call));
      const answer = writeOnce(call, {
        method,
        path: url.pathname,
        fingerprint: JSON.stringify([method, url.pathname, url.search, text]),
        status: route.status,
        perform: () => ({ ok: true, ...(route.handle(call) as Record<string, unknown>) }),
        refuse: (fault) => this.#errorOf(fault),
      });
      return this.#json(answer.status, answer.body, answer.headers);
    } catch (error) {
      if (error instanceof Fault) return this.#refusal(error);
      throw error;
    }
  }

  #respond(status: number, reply: Reply): Response {
    if (!(reply instanceof Response)) return this.#json(status, { ok: true, ...reply });
    for (const [name, value] of Object.entries(this.#headers())) reply.headers.set(name, value);
    return reply;
  }

  #errorOf({ code, message, details }: Fault): { status: number; body: Record<string, unknown> } {
    // As the answer's x-request-id will have it.
    const requestId = `req-test-${this.#count + 1}`;
    return { status: STATUS[code], body: { ok: false, error: { code, message, requestId, ...details } } };
  }

  #refusal(fault: Fault, retryAfter = 1): Response {
    const { status, body } = this.#errorOf(fault);
    const seconds = String(retryAfter);
    const isLater = status === 429 || status === 503;
    return this.#json(status, body, isLater ? { 'retry-after': seconds, 'x-retry-after': seconds } : {});
  }

  #json(status: number, body: object, headers: Record<string, string> = {}): Response {
    const type = { 'content-type': 'application/json; charset=utf-8' };
    return new Response(JSON.stringify(body), {
      status,
      headers: { ...this.#headers(), ...type, ...headers },
    });
  }

  #headers(): Record<string, string> {
    return {
      'x-request-id': `req-test-${++this.#count}`,
      'x-headrace-version': 'test',
      'cache-control': 'no-store',
      ratelimit: `"ingress";r=${RATE_LIMIT - 1};t=60`,
      'ratelimit-policy': `"ingress";q=${RATE_LIMIT};qu="requests";w=60`,
      'x-ratelimit-limit': String(RATE_LIMIT),
      'x-ratelimit-remaining': String(RATE_LIMIT - 1),
      'x-ratelimit-reset': String(Math.ceil(Date.now() / 1000) + 60),
    };
  }
}

const unknown = (what: string): Fault =>
  new Fault('not_configured', `The test service does not support ${what}. Use a real service for it.`);

function bodyOf(headers: Headers, text: string): unknown {
  if (text === '' || !headers.get('content-type')?.startsWith('application/json')) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw invalid({ path: '', message: 'The body must be JSON' });
  }
}

/** As in fetch, a caller that aborts does not wait. */
function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error);
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort);
    void promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
