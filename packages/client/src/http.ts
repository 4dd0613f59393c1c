/**
 * One call: retried while a retry may help and with the key of its first attempt, so that a write whose
 * answer was lost is not done twice. Retried are lost connections, 429, 502, 503, 504 and
 * `request_in_progress` (the first attempt still works); nothing else.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorOf, HeadraceError } from './errors.ts';

export interface ClientOptions {
  /** For example `http://127.0.0.1:4400`. */
  baseUrl: string;
  /** A service key, `hrk_…`. */
  key: string;
  /** In place of the global fetch. */
  fetch?: typeof fetch;
}

export interface CallOptions {
  signal?: AbortSignal;
  /** Of a write, to resume one that another process began; made when left out. */
  idempotencyKey?: string;
}

export type Query = Record<string, string | number | boolean | undefined>;

export interface Call extends CallOptions {
  query?: Query;
  /** JSON, or bytes with `contentType`. */
  body?: unknown;
  contentType?: string;
  headers?: Record<string, string>;
  /** Of all attempts together; a stream's of its beginning. Default two minutes. */
  limitMs?: number;
}

const LIMIT_MS = 120_000;
const ATTEMPTS = 6;
const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 8_000;
/** The longest Retry-After that is waited for; a longer one is the caller's to decide. */
const RETRY_AFTER_MS = 60_000;
const IN_PROGRESS_MS = 1_000;
const RETRIED = new Set([429, 502, 503, 504]);

export interface Http {
  /** The answer's JSON. Throws HeadraceError. */
  json<T>(method: string, path: string, call?: Call): Promise<T>;
  /** A download, whole. */
  bytes(path: string, call?: Call): Promise<Uint8Array>;
  /** A successful answer whose body the caller reads, for as long as it likes. */
  open(method: string, path: string, call?: Call): Promise<Response>;
}

export function createHttp(options: ClientOptions): Http {
  const base = options.baseUrl.replace(/\/+$/, '');
  const send = options.fetch ?? fetch;

  /** Reads the body too: a connection that is lost amid it is lost all the same. */
  async function attempt<T>(
    url: string,
    init: RequestInit,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    try {
      const response = await send(url, init);
      if (response.ok) return await read(response);
      const error = errorOf(response.status, response.headers.get('x-request-id'), await response.text());
      throw Object.assign(error, { retryAfter: response.headers.get('retry-after') });
    } catch (error) {
      if (error instanceof HeadraceError || init.signal?.aborted) throw error;
      throw new HeadraceError(
        0,
        'network_error',
        `${new URL(url).origin} did not answer: ${reasonOf(error)}`,
        { cause: error },
      );
    }
  }

  async function perform<T>(
    method: string,
    path: string,
    call: Call,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const init = initOf(method, options.key, call);
    const url = base + path + queryOf(call.query);
    const deadline = Date.now() + (call.limitMs ?? LIMIT_MS);
    for (let failures = 1; ; failures++) {
      try {
        return await attempt(url, init, read);
      } catch (error) {
        const delay = error instanceof HeadraceError ? delayBefore(error, failures) : null;
        if (delay === null || Date.now() + delay > deadline) throw error;
        await sleep(delay, undefined, call.signal ? { signal: call.signal } : {});
      }
    }
  }

  /** The same, ended by the call's limit. */
  async function bounded<T>(
    method: string,
    path: string,
    call: Call,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const limitMs = call.limitMs ?? LIMIT_MS;
    const limit = AbortSignal.timeout(limitMs);
    try {
      return await perform(
        method,
        path,
        { ...call, signal: call.signal ? AbortSignal.any([call.signal, limit]) : limit },
        read,
      );
    } catch (error) {
      if (error instanceof HeadraceError || !limit.aborted || call.signal?.aborted) throw error;
      throw new HeadraceError(0, 'network_error', `${base} did not answer within ${limitMs / 1000} s.`, {
        cause: error,
      });
    }
  }

  return {
    json: <T>(method: string, path: string, call: Call = {}) =>
      bounded(method, path, call, async (response) => (await response.json()) as T),
    bytes: (path, call = {}) =>
      bounded('GET', path, call, async (response) => new Uint8Array(await response.arrayBuffer())),
    open: (method, path, call = {}) => perform(method, path, call, (response) => Promise.resolve(response)),
  };
}

function initOf(method: string, key: string, call: Call): RequestInit {
  const headers: Record<string, string> = { accept: 'application/json', ...call.headers, 'x-api-key': key };
  if (method !== 'GET') headers['idempotency-key'] = call.idempotencyKey ?? randomUUID();
  const init: RequestInit = { method, headers, redirect: 'error' };
  if (call.body !== undefined) {
    headers['content-type'] = call.contentType ?? 'application/json';
    init.body = (call.contentType ? call.body : JSON.stringify(call.body)) as NonNullable<
      RequestInit['body']
    >;
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

/** Milliseconds until the next attempt after so many failures; null when there is to be none. */
function delayBefore(error: HeadraceError & { retryAfter?: string | null }, failures: number): number | null {
  // A claimed write works on, possibly for minutes: only the call's limit ends the asking.
  if (error.code === 'request_in_progress') return IN_PROGRESS_MS;
  if (failures >= ATTEMPTS || (error.status !== 0 && !RETRIED.has(error.status))) return null;
  const asked = /^\d+$/.test(error.retryAfter ?? '') ? Number(error.retryAfter) * 1000 : null;
  if (asked !== null) return asked > RETRY_AFTER_MS ? null : asked;
  return backoff(failures);
}

/** Doubling, with jitter, so that clients cut off together do not come back together. */
export function backoff(failures: number): number {
  return Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (failures - 1)) * (0.5 + Math.random() / 2);
}

function reasonOf(error: unknown): string {
  const cause = (error as { cause?: { code?: string; message?: string } }).cause;
  return cause?.code ?? cause?.message ?? (error as Error).message;
}
