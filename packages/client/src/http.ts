/**
 * Requests, repeated while that may help: after lost connections, 429, 502, 503, 504 and `request_in_progress`
 * (the first attempt is still running). All attempts of a write share one Idempotency-Key, so a write with a
 * lost answer is not done twice. Nothing else is repeated, and a body that is a stream is never sent again.
 */
import { errorOf, HeadraceError, invalidResponse, UncertainError } from './errors.ts';
import type { Operation } from './generated/types.ts';
import { newKey } from './keys.ts';
import type { CallOptions, ResponseInfo } from './options.ts';

export interface ClientOptions {
  /** For example `http://127.0.0.1:4400`. In a browser with `session`, the default is the page's own origin. */
  baseUrl?: string;
  /** A service key, `hrk_…`. */
  key?: string;
  /** A bearer token. */
  token?: string;
  /** Uses the cookie of the signed-in user. */
  session?: true;
  /** Sent with every request. */
  headers?: Record<string, string>;
  /** Replaces the global fetch. */
  fetch?: typeof fetch;
  /** Allows a key in a browser, where everyone who opens the page can read it. */
  dangerouslyAllowBrowser?: boolean;
}

export type Query = Record<string, string | number | boolean | readonly string[] | undefined>;
/** Bytes, or a function that opens the same bytes again for each attempt. A plain stream is sent once. */
export type Bytes = Uint8Array | Blob | ReadableStream<Uint8Array> | (() => ReadableStream<Uint8Array>);

export interface Request extends CallOptions {
  method: string;
  path: string;
  query?: Query | undefined;
  /** Sent as JSON; with `contentType`, sent as it is. */
  body?: unknown;
  contentType?: string;
  /** A write's Idempotency-Key. */
  key?: string;
  /** Default 6; 1 for a caller that does its own retries. */
  attempts?: number;
}
export type Read<T> = (response: Response) => Promise<T>;

export interface Http {
  /** Returns what `read` makes of the successful answer; reading is part of the attempt. Throws HeadraceError. */
  send<T>(request: Request, read: Read<T>): Promise<{ data: T; response: ResponseInfo }>;
  /** A successful answer whose body the caller reads at its own pace. */
  open(request: Request): Promise<Response>;
  /** The key of the next write. */
  nextKey(method: string): string;
  /** The same service, with these keys for its writes. */
  withKeys(nextKey: (method: string) => string): Http;
}

const TIMEOUT_MS = 120_000;
const ATTEMPT_TIMEOUT_MS = 60_000;
const ATTEMPTS = 6;
const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 8_000;
/** The longest Retry-After that is honoured; after a longer one, the caller decides. */
const RETRY_AFTER_MS = 60_000;
const IN_PROGRESS_MS = 1_000;

let hasWarned = false;

/** Throws TypeError for options that cannot work. */
export function createHttp(options: ClientOptions): Http {
  const base = baseOf(options);
  // Checked here: the error of `fetch` for an invalid header contains the header.
  const credential = headersOf(credentialOf(options, base));
  const send = options.fetch ?? ((input, init) => fetch(input, init));
  const { headers = {}, session = false } = options;
  return httpOf({ base, headers, credential, send, session }, newKey);
}

interface Service {
  base: string;
  headers: Record<string, string>;
  credential: Record<string, string>;
  send: typeof fetch;
  session: boolean;
}

const httpOf = (service: Service, nextKey: Http['nextKey']): Http => ({
  send: (request, read) =>
    attempts(service, request, async (response) => ({
      data: await read(response),
      response: infoOf(response),
    })),
  open: (request) => attempts(service, request, null),
  nextKey,
  withKeys: (keys) => httpOf(service, keys),
});

function baseOf({ baseUrl, session }: ClientOptions): string {
  const origin = (globalThis as { location?: { origin?: string } }).location?.origin;
  const base = baseUrl ?? (session ? origin : undefined);
  if (base === undefined || !URL.canParse(base) || !/^https?:$/.test(new URL(base).protocol))
    throw new TypeError(
      `baseUrl must be the address of Headrace, for example http://127.0.0.1:4400, not ${JSON.stringify(base)}.`,
    );
  const { href, origin: host, pathname } = new URL(base);
  // Not shown: they may be secret.
  if (href !== host + pathname)
    throw new TypeError('baseUrl must have no user, password, query or fragment.');
  return host + pathname.replace(/\/+$/, '');
}

function credentialOf(options: ClientOptions, base: string): Record<string, string> {
  const { key, token, session } = options;
  if ([key, token, session].filter(Boolean).length !== 1)
    throw new TypeError('createClient takes one of key, token and session.');
  if (key && isBrowser() && !options.dangerouslyAllowBrowser)
    throw new TypeError(
      'A service key does not belong in a browser: everyone who opens the page can read it. Use a session, or your backend.',
    );
  const { protocol, hostname } = new URL(base);
  if (!session && protocol === 'http:' && !isLoopback(hostname) && !hasWarned) {
    hasWarned = true;
    console.warn(`The credential for ${hostname} is sent without encryption: use https.`);
  }
  if (key) return { 'x-api-key': key };
  return token ? { authorization: `Bearer ${token}` } : {};
}

const isBrowser = () =>
  typeof (globalThis as { window?: unknown }).window === 'object' &&
  typeof (globalThis as { document?: unknown }).document === 'object';
const isLoopback = (host: string) => /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(host);

/** Makes as many attempts as may help, within the call's time. Without `read`, returns the response unread. */
async function attempts<T>(service: Service, request: Request, read: Read<T>): Promise<T>;
async function attempts(service: Service, request: Request, read: null): Promise<Response>;
async function attempts<T>(service: Service, request: Request, read: Read<T> | null): Promise<T | Response> {
  const deadline = performance.now() + (request.timeoutMs ?? TIMEOUT_MS);
  const init = initOf(service, request);
  let isUncertain = false;
  for (let failures = 1; ; failures++) {
    try {
      return await attempt(service, request, { deadline, read, init });
    } catch (error) {
      if (!(error instanceof HeadraceError)) throw error;
      isUncertain ||= request.key !== undefined && mayHaveHappened(error);
      const delayMs = delayBefore(request, error, failures);
      if (delayMs === null || performance.now() + delayMs > deadline)
        throw isUncertain && (error.retryable || error.code === 'invalid_response')
          ? uncertain(service, request, error)
          : error;
      await sleep(delayMs, request.signal);
    }
  }
}

/** Whether an attempt may have done the write. A refusal or a redirect means that it has not, whatever sends it. */
const mayHaveHappened = ({ status, code }: HeadraceError): boolean =>
  code === 'network_error' || (code === 'invalid_response' && (status < 300 || status >= 500));

interface Attempt<T> {
  deadline: number;
  read: Read<T> | null;
  /** Without the body, which each attempt opens. */
  init: RequestInit;
}

/** The longest delay of a timer; timers with a longer one fire immediately. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Ends with the caller's signal, or after the timeout; `end` frees both. AbortSignal.any would keep something for
 * each past call, as long as the caller's signal lives.
 */
export function limitOf(milliseconds: number, signal?: AbortSignal): { signal: AbortSignal; end(): void } {
  const limit = new AbortController();
  const onAbort = () => limit.abort(signal?.reason);
  const timer = setTimeout(() => limit.abort(), Math.min(milliseconds, LONGEST_TIMER_MS));
  signal?.addEventListener('abort', onAbort);
  return {
    signal: limit.signal,
    end() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    },
  };
}

/** Also reads the body, since the connection may be lost halfway through it. */
async function attempt<T>(
  service: Service,
  request: Request,
  { deadline, read, init }: Attempt<T>,
): Promise<T | Response> {
  const { signal, attemptTimeoutMs = ATTEMPT_TIMEOUT_MS } = request;
  signal?.throwIfAborted();
  const body = bodyOf(request);
  const leftMs = Math.max(1, Math.min(attemptTimeoutMs, deadline - performance.now()));
  const limit = limitOf(leftMs, signal);
  // Reads after the attempt also end with the caller's signal.
  const both = signal && !read ? AbortSignal.any([signal, limit.signal]) : limit.signal;
  // Called without `this`: a browser's fetch accepts only its window.
  const { send } = service;
  try {
    const url = service.base + request.path + queryOf(request.query);
    const response = await send(url, { ...init, ...body, signal: both });
    if (response.ok) return read ? await read(response) : response;
    if (response.status < 400)
      // Browsers hide its status.
      throw invalidResponse(response.status || 302, 'a redirect, which could carry the credential elsewhere');
    throw errorOf(response, await response.text());
  } catch (error) {
    if (error instanceof HeadraceError) throw error;
    signal?.throwIfAborted();
    const reason = limit.signal.aborted ? `no answer within ${Math.round(leftMs / 1000)} s` : reasonOf(error);
    const message = `${new URL(service.base).origin} did not answer: ${reason}`;
    throw new HeadraceError(0, 'network_error', message, { cause: error });
  } finally {
    limit.end();
  }
}

/**
 * What all attempts send, made once: the caller may change its body meanwhile, and an invalid body fails before the
 * first attempt. Throws TypeError.
 */
function initOf(service: Service, { method, body, contentType, headers, key }: Request): RequestInit {
  const type = contentType ?? 'application/json';
  // Some runtimes do not support `redirect: 'error'`, and some do not support `credentials`.
  return {
    method,
    redirect: 'manual',
    headers: headersOf(
      { accept: 'application/json' },
      service.headers,
      headers,
      service.credential,
      key !== undefined && { 'idempotency-key': key },
      body !== undefined && { 'content-type': type },
    ),
    ...(service.session && { credentials: 'include' }),
    ...(body !== undefined && contentType === undefined && { body: JSON.stringify(body) }),
  };
}

/** Later headers win, whatever the case of their names. */
function headersOf(...given: (Record<string, string> | false | undefined)[]): Record<string, string> {
  const headers = new Headers();
  for (const [name, value] of given.flatMap((some) => Object.entries(some || {})))
    try {
      headers.set(name, value);
    } catch {
      // Without the value: it may be secret.
      throw new TypeError(`The header ${JSON.stringify(name)} has invalid characters.`);
    }
  return Object.fromEntries(headers);
}

/** Bytes, opened for one attempt. */
function bodyOf({ body, contentType }: Request): RequestInit & { duplex?: 'half' } {
  if (body === undefined || contentType === undefined) return {};
  const bytes = typeof body === 'function' ? (body as () => ReadableStream)() : body;
  const isStream = bytes instanceof ReadableStream;
  return { body: bytes as NonNullable<RequestInit['body']>, ...(isStream && { duplex: 'half' }) };
}

/** An id as a part of a path. Throws TypeError for one that is missing, or would make it another path. */
export function segmentOf(id: unknown, label: string): string {
  if ((typeof id !== 'string' && typeof id !== 'number') || id === '' || id === '.' || id === '..')
    throw new TypeError(`${label} must be a string, not ${JSON.stringify(id) ?? 'undefined'}.`);
  return encodeURIComponent(id);
}

function queryOf(query: Query = {}): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((one) => [name, String(one)]),
  );
  return pairs.length ? `?${new URLSearchParams(pairs).toString()}` : '';
}

function infoOf({ status, headers }: Response): ResponseInfo {
  const number = (name: string) => Number(headers.get(name) ?? Number.NaN);
  const limit = number('x-ratelimit-limit');
  return {
    status,
    requestId: headers.get('x-request-id'),
    operationId: headers.get('x-operation-id'),
    replayed: headers.get('idempotent-replayed') === 'true',
    rateLimit: Number.isNaN(limit)
      ? null
      : {
          limit,
          remaining: number('x-ratelimit-remaining'),
          resetAt: new Date(number('x-ratelimit-reset') * 1000),
        },
  };
}

/** Milliseconds until the next attempt after this many failures; null for no further attempt. */
function delayBefore(
  { body, attempts: most = ATTEMPTS }: Request,
  error: HeadraceError,
  failures: number,
): number | null {
  if (body instanceof ReadableStream || !error.retryable) return null;
  // A claimed write may run for minutes: only the call's limit ends the attempts.
  if (error.code === 'request_in_progress') return IN_PROGRESS_MS;
  if (failures >= most) return null;
  const asked = error.retryAfterMs;
  if (asked !== null) return asked > RETRY_AFTER_MS ? null : asked + backoff(1);
  return backoff(failures);
}

/** Doubles, with full jitter, so that clients disconnected together do not reconnect together. */
export const backoff = (failures: number): number =>
  Math.random() * Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (failures - 1));

/** Throws the signal's reason if it aborts. */
export const sleep = (milliseconds: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      if (signal?.aborted) reject(signal.reason as Error);
      else resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal?.addEventListener('abort', end);
    if (signal?.aborted) end();
  });

const uncertain = (service: Service, { key = '' }: Request, error: HeadraceError) =>
  new UncertainError(error, key, async () => {
    const request: Request = { method: 'GET', path: '/api/operations', query: { idempotencyKey: key } };
    const read = jsonWith<{ operations: Operation[] }>('operations');
    const { operations } = await attempts(service, request, read);
    return operations[0] ?? null;
  });

/** Reads JSON with these members. Throws HeadraceError `invalid_response` for anything else. */
export const jsonWith =
  <T>(...members: string[]): Read<T> =>
  async (response) => {
    const text = await response.text();
    let answer: T & Record<string, unknown>;
    try {
      answer = JSON.parse(text) as never;
      if (members.every((name) => answer[name] !== undefined)) return answer;
    } catch {
      // The same as for JSON that is not from the service.
    }
    throw invalidResponse(response.status, text);
  };

function reasonOf(error: unknown): string {
  const { cause, message } = error as { cause?: { code?: string; message?: string }; message?: string };
  return cause?.code ?? cause?.message ?? message ?? String(error);
}
