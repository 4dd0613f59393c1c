/**
 * One attempt: a POST on a connection of its own. It looks the name up, checks every address, and connects to one of
 * them, so DNS rebinding has no effect. A reused connection would go to an address of an earlier look-up.
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

/** How much of a response is read; then the connection is dropped. */
const MAX_RESPONSE = 1_024;
/** A bound on interim responses (100, 103): they are cheap to send, and a final one may never come. */
const MAX_INTERIM = 8;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** With several addresses, the next one is tried after a second: a receiver may be far away. */
const EACH_ALONE = { keepAlive: false, maxSockets: Infinity, autoSelectFamilyAttemptTimeout: 1_000 };
const AGENTS = {
  'http:': new HttpAgent(EACH_ALONE),
  // It keeps TLS sessions by host, which makes handshakes cheaper.
  'https:': new HttpsAgent({ ...EACH_ALONE, maxCachedSessions: 500 }),
};

export interface Posted {
  url: string;
  headers: Record<string, string>;
  body: Buffer;
}

export interface Answer {
  /** Null without a response. */
  statusCode: number | null;
  /** Null: the receiver accepted. */
  error: AttemptError | null;
  /** The first bytes of the response, as text; null without one. */
  response: string | null;
  retryAfter: string | null;
}

export interface AttemptOptions {
  resolve: Resolve;
  /** Allows receivers with private addresses, and http. */
  allowPrivate: boolean;
  /** The limit for look-up, connection, request and response together. */
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

/** Never throws: every fault is an outcome. Once the status has arrived, it alone decides. */
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

/** All addresses of a host; throws unless each is public, or private ones are allowed. */
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

/** A look-up that returns only the checked addresses. */
const pinned =
  (addresses: LookupAddress[]): LookupFunction =>
  (_hostname, options, callback) => {
    if (options.all) callback(null, addresses);
    else callback(null, addresses[0]!.address, addresses[0]!.family);
  };

/** A request in flight, and what has arrived of its response. */
class Line {
  readonly #request: ClientRequest;
  readonly #end: (answer: Answer) => void;
  /** True between connection and encryption: an error is then a TLS error. */
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
      // Also after a switch of protocols.
      .on('close', () => this.#done())
      .on('response', (answer) => this.#readAnswer(answer));
    this.#request.end(body);
  }

  /** Drops the connection. Returns the response so far, or `otherwise` without one. */
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

  /** Ends the request, with or without an error; the response so far counts. */
  #done(error?: NodeJS.ErrnoException): void {
    // A receiver that requires a client certificate reports it after the handshake.
    const isTls = this.#isShakingHands || /^(ERR_(SSL|TLS)_|EPROTO)/.test(error?.code ?? '');
    this.#end(failed(isTls ? 'tls' : 'connection'));
  }
}
