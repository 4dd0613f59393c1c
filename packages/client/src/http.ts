/**
 * One call, retried while a retry may help. All attempts share one Idempotency-Key, so that a write whose
 * answer was lost is not done twice. Lost connections, 429, 502, 503, 504 and `request_in_progress` (the
 * first attempt is still running) are retried; nothing else is.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorOf, HeadraceError } from './errors.ts';

export interface ClientOptions {
  /** For example `http://127.0.0.1:4400`. */
  baseUrl: string;
  /** A service key, `hrk_…`. */
  key: string;
  /** Replaces the global fetch. */
  fetch?: typeof fetch;
}

export interface CallOptions {
  signal?: AbortSignal;
  /** For a write: resumes one that another process began; generated when left out. */
  idempotencyKey?: string;
}

export type Query = Record<string, string | number | boolean | undefined>;

interface Call extends CallOptions {
  query?: Query;
  /** JSON, or bytes with `contentType`. */
  body?: unknown;
  contentType?: string;
  headers?: Record<string, string>;
  /** For all attempts together; of a stream, only until it opens. Default two minutes. */
  limitMs?: number;
}

const LIMIT_MS = 120_000;
const ATTEMPTS = 6;
const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 8_000;
/** The longest Retry-After that is honoured; beyond it the caller decides. */
const RETRY_AFTER_MS = 60_000;
const IN_PROGRESS_MS = 1_000;
const RETRIED = new Set([429, 502, 503, 504]);

export interface Http {
  /** The answer's JSON. Throws HeadraceError. */
  json<T>(method: string, path: string, call?: Call): Promise<T>;
  /** A whole download. */
  bytes(path: string, call?: Call): Promise<Uint8Array>;
  /** A successful answer whose body the caller reads at its own pace. */
  open(method: string, path: string, call?: Call): Promise<Response>;
}

export const createHttp = (options: ClientOptions): Http => {
  const wire = new Wire(options);
  return {
    json: <T>(method: string, path: string, call: Call = {}) =>
      wire.readWithin({ method, path, call }, async (response) => (await response.json()) as T),
    bytes: (path, call = {}) =>
      wire.readWithin(
        { method: 'GET', path, call },
        async (response) => new Uint8Array(await response.arrayBuffer()),
      ),
    open: (method, path, call = {}) =>
      wire.read({ method, path, call }, (response) => Promise.resolve(response)),
  };
};

interface Request {
  method: string;
  path: string;
  call: Call;
}
type Read<T> = (response: Response) => Promise<T>;

/** One service, reached with one key. */
class Wire {
  readonly #base: string;
  readonly #key: string;
  readonly #fetch: typeof fetch;

  constructor(options: ClientOptions) {
    this.#base = options.baseUrl.replace(/\/+$/, '');
    this.#key = options.key;
    this.#fetch = options.fetch ?? fetch;
  }

  /** What `read` makes of the answer, after as many attempts as may help. Throws HeadraceError. */
  async read<T>({ method, path, call }: Request, read: Read<T>): Promise<T> {
    const init = initOf(method, this.#key, call);
    const url = this.#base + path + queryOf(call.query);
    const deadline = Date.now() + (call.limitMs ?? LIMIT_MS);
    for (let failures = 1; ; failures++) {
      try {
        return await this.#attempt(url, init, read);
      } catch (error) {
        const delay = error instanceof HeadraceError ? delayBefore(error, failures) : null;
        if (delay === null || Date.now() + delay > deadline) throw error;
        await sleep(delay, undefined, call.signal ? { signal: call.signal } : {});
      }
    }
  }

  /** The same, aborted at the call's limit. */
  async readWithin<T>({ method, path, call }: Request, read: Read<T>): Promise<T> {
    const limitMs = call.limitMs ?? LIMIT_MS;
    const limit = AbortSignal.timeout(limitMs);
    const signal = call.signal ? AbortSignal.any([call.signal, limit]) : limit;
    try {
      return await this.read({ method, path, call: { ...call, signal } }, read);
    } catch (error) {
      if (error instanceof HeadraceError || !limit.aborted || call.signal?.aborted) throw error;
      const message = `${this.#base} did not answer within ${limitMs / 1000} s.`;
      throw new HeadraceError(0, 'network_error', message, { cause: error });
    }
  }

  /** Reads the body too: a connection lost halfway through is a lost connection. */
  async #attempt<T>(url: string, init: RequestInit, read: Read<T>): Promise<T> {
    try {
      const send = this.#fetch;
      const response = await send(url, init);
      if (response.ok) return await read(response);
      const error = errorOf(response.status, response.headers.get('x-request-id'), await response.text());
      throw Object.assign(error, { retryAfter: response.headers.get('retry-after') });
    } catch (error) {
      if (error instanceof HeadraceError || init.signal?.aborted) throw error;
      const message = `${new URL(url).origin} did not answer: ${reasonOf(error)}`;
      throw new HeadraceError(0, 'network_error', message, { cause: error });
    }
  }
}

function initOf(method: string, key: string, call: Call): RequestInit {
  const headers: Record<string, string> = { accept: 'application/json', ...call.headers, 'x-api-key': key };
  if (method !== 'GET') headers['idempotency-key'] = call.idempotencyKey ?? randomUUID();
  const init: RequestInit = { method, headers, redirect: 'error' };
  if (call.body !== undefined) {
    headers['content-type'] = call.contentType ?? 'application/json';
    init.body = call.contentType ? (call.body as Uint8Array<ArrayBuffer>) : JSON.stringify(call.body);
  }
  if (call.signal) init.signal = call.signal;
  return init;
}

function queryOf(query: Query = {}): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return pairs.length ? `?${new URLSearchParams(pairs).toString()}` : '';
}

/** Milliseconds until the next attempt after that many failures; null for no further attempt. */
function delayBefore(error: HeadraceError & { retryAfter?: string | null }, failures: number): number | null {
  // A claimed write may run for minutes: only the call's limit ends the retries.
  if (error.code === 'request_in_progress') return IN_PROGRESS_MS;
  if (failures >= ATTEMPTS || (error.status !== 0 && !RETRIED.has(error.status))) return null;
  const asked = /^\d+$/.test(error.retryAfter ?? '') ? Number(error.retryAfter) * 1000 : null;
  if (asked !== null) return asked > RETRY_AFTER_MS ? null : asked;
  return backoff(failures);
}

/** Doubles, with jitter, so that clients cut off together do not come back together. */
export function backoff(failures: number): number {
  return Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (failures - 1)) * (0.5 + Math.random() / 2);
}

function reasonOf(error: unknown): string {
  const cause = (error as { cause?: { code?: string; message?: string } }).cause;
  return cause?.code ?? cause?.message ?? (error as Error).message;
}
