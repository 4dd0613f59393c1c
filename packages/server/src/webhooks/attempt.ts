/**
 * One attempt: a POST on a connection of its own. The name is looked up here, every address that it has is judged,
 * and the connection goes to one of these: what the name leads to afterwards does not matter. A kept connection
 * would lead to an address of an earlier look-up.
 */
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { LookupAddress } from 'node:dns';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import type { LookupFunction, Socket } from 'node:net';
import { isPrivateAddress, PrivateAddressError } from '@headrace/runner/addresses';
import { clean } from '../db/clean-text.ts';
import type { AttemptError } from '../db/schema.ts';
import type { Resolve } from './resolve.ts';

/** How much of an answer is read; then the connection is dropped. */
const MAX_RESPONSE = 1_024;
/** Interim answers (100, 103) cost the receiver nothing, and a final one may never come. */
const MAX_INTERIM = 8;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Of several addresses the next one is tried after a second: a receiver may be far. */
const EACH_ALONE = { keepAlive: false, maxSockets: Infinity, autoSelectFamilyAttemptTimeout: 1_000 };
const AGENTS = {
  'http:': new HttpAgent(EACH_ALONE),
  // It keeps sessions of TLS, by host, so that a further connection costs less.
  'https:': new HttpsAgent({ ...EACH_ALONE, maxCachedSessions: 500 }),
};

export interface Posted {
  url: string;
  headers: Record<string, string>;
  body: Buffer;
}

export interface Answer {
  /** Null without an answer. */
  statusCode: number | null;
  /** Null: the receiver accepted. */
  error: AttemptError | null;
  /** The first bytes of the answer, as text; null without one. */
  response: string | null;
  retryAfter: string | null;
}

export interface AttemptOptions {
  resolve: Resolve;
  /** Receivers may have private addresses, and speak http. */
  allowPrivate: boolean;
  /** For everything: look-up, connection, request and answer. */
  timeoutMs: number;
  /** Drops the attempt. */
  signal: AbortSignal;
}

const failed = (error: AttemptError): Answer => ({
  statusCode: null,
  error,
  response: null,
  retryAfter: null,
});

/** Never throws: whatever happens is an answer. Once there is a status, it alone decides. */
export async function attempt(posted: Posted, options: AttemptOptions): Promise<Answer> {
  const url = new URL(posted.url);
  const isSecure = url.protocol === 'https:';
  if (!isSecure && !options.allowPrivate) return failed('address_refused');
  const ends = Promise.withResolvers<Answer>();
  const timer = setTimeout(() => ends.resolve(failed('timeout')), options.timeoutMs);
  const drop = () => ends.resolve(failed('connection'));
  options.signal.addEventListener('abort', drop, { once: true });
  let line: Line | null = null;
  let isOver = false;
  const dial = async () => {
    const addresses = await addressesOf(url.hostname, options);
    if (!isOver) line = new Line(posted, url, addresses, ends.resolve);
  };
  dial().catch((error: unknown) =>
    ends.resolve(failed(error instanceof PrivateAddressError ? 'address_refused' : 'connection')),
  );
  const answer = await ends.promise;
  isOver = true;
  clearTimeout(timer);
  options.signal.removeEventListener('abort', drop);
  return (line as Line | null)?.close(answer) ?? answer;
}

/** All addresses of a host; throws unless each is of the open internet, or private ones are allowed. */
async function addressesOf(
  hostname: string,
  { resolve, allowPrivate }: AttemptOptions,
): Promise<LookupAddress[]> {
  const host = hostname.replace(/^\[|\]$/g, '');
  const family = isIP(host);
  const addresses = family === 0 ? await resolve(host) : [{ address: host, family }];
  if (!allowPrivate && addresses.some(({ address }) => isPrivateAddress(address)))
    throw new PrivateAddressError();
  return addresses;
}

/** A name has been looked up already: a connection goes to one of these addresses. */
const pinned =
  (addresses: LookupAddress[]): LookupFunction =>
  (_hostname, options, callback) => {
    if (options.all) callback(null, addresses);
    else callback(null, addresses[0]!.address, addresses[0]!.family);
  };

/** A request under way, and what has come of its answer. */
class Line {
  readonly #request: ClientRequest;
  readonly #end: (answer: Answer) => void;
  /** While this is true, what goes wrong goes wrong between connection and encryption. */
  #isShakingHands = false;
  #interim = 0;
  #answer: IncomingMessage | null = null;
  readonly #read: Buffer[] = [];
  #size = 0;

  constructor(
    { headers, body }: Posted,
    url: URL,
    addresses: LookupAddress[],
    end: (answer: Answer) => void,
  ) {
    this.#end = end;
    const isSecure = url.protocol === 'https:';
    this.#request = (isSecure ? httpsRequest : httpRequest)(url, {
      method: 'POST',
      agent: AGENTS[isSecure ? 'https:' : 'http:'],
      lookup: pinned(addresses),
      headers: { ...headers, 'content-length': body.length },
    });
    this.#request
      .on('socket', (socket) => {
        if (isSecure) this.#watchHandshake(socket);
      })
      .on('information', () => {
        if (++this.#interim > MAX_INTERIM) this.#done();
      })
      .on('error', (error: NodeJS.ErrnoException) => this.#done(error))
      // After a switch of protocols, too.
      .on('close', () => this.#done())
      .on('response', (answer) => this.#readAnswer(answer));
    this.#request.end(body);
  }

  /** Drops the connection. Returns what was answered, where anything was; else `otherwise`. */
  close(otherwise: Answer): Answer {
    this.#request.destroy();
    const { statusCode = null, headers } = this.#answer ?? {};
    if (statusCode === null) return otherwise;
    return {
      statusCode,
      error: statusCode >= 200 && statusCode < 300 ? null : REDIRECTS.has(statusCode) ? 'redirect' : 'status',
      response: clean(Buffer.concat(this.#read).toString('utf8', 0, MAX_RESPONSE)),
      retryAfter: headers?.['retry-after'] ?? null,
    };
  }

  #watchHandshake(socket: Socket): void {
    socket.once('connect', () => {
      this.#isShakingHands = true;
    });
    socket.once('secureConnect', () => {
      this.#isShakingHands = false;
    });
  }

  #readAnswer(answer: IncomingMessage): void {
    this.#answer = answer;
    answer
      .on('data', (chunk: Buffer) => {
        this.#read.push(chunk);
        this.#size += chunk.length;
        if (this.#size >= MAX_RESPONSE) this.#done();
      })
      .on('error', () => this.#done())
      .on('end', () => this.#done());
  }

  /** Whatever ends it: what was answered until then counts. */
  #done(error?: NodeJS.ErrnoException): void {
    // A receiver that wants a certificate says so after the handshake.
    const isTls = this.#isShakingHands || /^(ERR_(SSL|TLS)_|EPROTO)/.test(error?.code ?? '');
    this.#end(failed(isTls ? 'tls' : 'connection'));
  }
}
