/**
 * The fetch that Octokit gets: to one origin and its redirects within it, for a limited time, with answers of
 * a limited size, and reads that ask whether anything has changed.
 */
import { Agent, fetch as undiciFetch } from 'undici';
import type { RequestInit, Response as UndiciResponse } from 'undici';
import { endOf } from '../../cut-text.ts';
import { publicConnector } from '../../public-connector.ts';

const CONNECT_MS = 10_000;
const LIMIT_MS = 20_000;
const MAX_ANSWER = 32 * 1024 * 1024;
const MAX_REDIRECTS = 3;
/** For longer texts, only the end is requested. */
const LONG_TEXT = 1024 * 1024;
/** The limit of a text of which only the end is kept. */
const MAX_TEXT = 1024 * 1024 * 1024;
/** What is kept of answers with an ETag: of each up to, and of all together. */
const MAX_KEPT = 512 * 1024;
const MAX_KEPT_TOGETHER = 8 * 1024 * 1024;

const agents = new Map<boolean, Agent>();

/** Connections of all installations: a name's addresses are judged when it is connected to. */
function dispatcherFor(allowPrivate: boolean): Agent {
  const known = agents.get(allowPrivate);
  if (known) return known;
  const made = new Agent({ connect: allowPrivate ? { timeout: CONNECT_MS } : publicConnector(CONNECT_MS) });
  agents.set(allowPrivate, made);
  return made;
}

interface Kept {
  etag: string;
  headers: [string, string][];
  body: Buffer;
}

/** Answers by URL, the least used dropped first. */
class KeptAnswers {
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;

  get(key: string): Kept | undefined {
    const found = this.#kept.get(key);
    if (found) {
      this.#kept.delete(key);
      this.#kept.set(key, found);
    }
    return found;
  }

  keep(key: string, answer: Kept): void {
    this.#drop(key);
    if (answer.body.length > MAX_KEPT) return;
    this.#kept.set(key, answer);
    this.#bytes += answer.body.length;
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= MAX_KEPT_TOGETHER) return;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    this.#bytes -= this.#kept.get(key)?.body.length ?? 0;
    this.#kept.delete(key);
  }
}

/** A fetch of one credential: what it keeps is for that one alone. */
export function guardedFetch(origin: string, allowPrivate: boolean): typeof globalThis.fetch {
  const kept = new KeptAnswers();
  const dispatcher = dispatcherFor(allowPrivate);
  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const headers = new Headers(init.headers);
    const key = init.method === 'GET' ? `${headers.get('accept')} ${url.href}` : null;
    const before = key === null ? undefined : kept.get(key);
    if (before) headers.set('if-none-match', before.etag);
    const signal = AbortSignal.any([AbortSignal.timeout(LIMIT_MS), ...(init.signal ? [init.signal] : [])]);
    const request = { ...init, headers, signal, dispatcher, redirect: 'manual' } as unknown as RequestInit;
    // What asks for the redirect itself gets it.
    const answer = await (init.redirect === 'manual'
      ? undiciFetch(url, request)
      : follow(url, request, origin));
    if (answer.status === 304 && before) {
      await answer.body?.cancel();
      return answerOf(200, [...before.headers, ...rateOf(answer)], before.body);
    }
    const body = await readWithin(answer, MAX_ANSWER);
    const etag = answer.headers.get('etag');
    const all = [...answer.headers];
    if (key !== null && etag !== null && answer.status === 200) kept.keep(key, { etag, headers: all, body });
    return answerOf(answer.status, all, body);
  };
}

/** Repeats the request where a redirect of the same origin points: so GitHub answers for what was renamed. */
async function follow(from: URL, request: RequestInit, origin: string): Promise<UndiciResponse> {
  let url = from;
  for (let redirects = 0; ; redirects++) {
    if (url.origin !== origin) throw new Error('a redirect leads to another origin');
    const answer = await undiciFetch(url, request);
    const location = answer.headers.get('location');
    if (![301, 302, 307, 308].includes(answer.status) || location === null) return answer;
    await answer.body?.cancel();
    const next = URL.parse(location, url.href);
    if (redirects === MAX_REDIRECTS || !next) throw new Error('a redirect leads nowhere');
    url = next;
  }
}

/** Throws where the answer is longer; nothing of that is kept in memory. */
async function readWithin(answer: UndiciResponse, most: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer.body ?? []) {
    size += chunk.length;
    if (size > most) throw new Error('the answer is too long');
    chunks.push(chunk as Uint8Array);
  }
  return Buffer.concat(chunks);
}

const rateOf = (answer: UndiciResponse) =>
  [...answer.headers].filter(([name]) => name.startsWith('x-ratelimit-'));

function answerOf(status: number, headers: [string, string][], body: Buffer): Response {
  const all = new Headers();
  // The body is unpacked; of two rate limits the later one counts.
  for (const [name, value] of headers)
    if (name !== 'content-encoding' && name !== 'content-length') all.set(name, value);
  const isBare = status === 204 || status === 205 || status === 304;
  return new Response(isBare ? null : new Uint8Array(body), { status, headers: all });
}

/**
 * The end of a text at an address that GitHub named, without any credential: at public addresses, unless
 * private ones are allowed. For a long text, only its end is requested. A host without support for ranges sends all
 * of it, and only the end is kept.
 */
export async function fetchEnd(
  address: string,
  { maxBytes, allowPrivate }: { maxBytes: number; allowPrivate: boolean },
): Promise<string> {
  const signal = AbortSignal.timeout(LIMIT_MS);
  const get = async (headers: Record<string, string>) => {
    const answer = await undiciFetch(address, {
      dispatcher: dispatcherFor(allowPrivate),
      redirect: 'error',
      signal,
      // A compressed response has no ranges.
      headers: { 'accept-encoding': 'identity', ...headers },
    });
    if (!answer.ok) throw new Error(`a log was answered with ${answer.status}`);
    return answer;
  };
  const whole = await get({});
  const size = Number(whole.headers.get('content-length'));
  if (!(size > LONG_TEXT)) return readEnd(whole, maxBytes);
  await whole.body?.cancel();
  return readEnd(await get({ range: `bytes=${size - maxBytes - 1}-` }), maxBytes);
}

async function readEnd(answer: UndiciResponse, maxBytes: number): Promise<string> {
  // One byte more shows whether a character is cut.
  const kept = maxBytes + 1;
  let end: Uint8Array = new Uint8Array();
  let size = 0;
  for await (const chunk of answer.body ?? []) {
    const bytes = chunk as Uint8Array;
    size += bytes.length;
    if (size > MAX_TEXT) throw new Error('the log is too long');
    // Most chunks are longer than the part that is kept.
    end = bytes.length > kept ? bytes.subarray(-kept) : Buffer.concat([end, bytes]).subarray(-kept);
  }
  return endOf(Buffer.from(end), maxBytes);
}
