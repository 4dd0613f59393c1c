import { createServer, STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { joinSockets } from '@headrace/agent/join-sockets.ts';
import type { RunnerStatus } from '../protocol.ts';
import type { TaskSockets } from '../sandbox/sockets.ts';
import { isPrivateAddress } from './addresses.ts';
import { answer, refusal, refusalPhrase, refusalText } from './answers.ts';
import { serverNameOf, UNRECOGNIZED_NAME } from './client-hello.ts';
import { forward } from './forward.ts';
import { internet, type Outside } from './outside.ts';
import { Policy, targetOf, type Allowed, type Reach, type Reason } from './policy.ts';

const NAME = 'egress';
/** npm opens 15 at once, pnpm 64. */
const CONNECTIONS = 64;
const HEADER_BYTES = 8 * 1024,
  HELLO_BYTES = 16 * 1024;
const HEADER_MS = 10_000,
  HELLO_MS = 10_000,
  IDLE_MS = 5 * 60_000,
  LINGER_MS = 1_000;
/** Concurrent look-ups of all tasks together; several for one name count once. */
const LOOKUPS = 256;

/** A refused connection. Of one too many, which is not read, the host is empty. */
export interface Refused {
  host: string;
  port: number;
  reason: Reason;
}
interface Task {
  policy: Policy;
  onRefused: (refused: Refused) => void;
  visitors: number;
  isFull: boolean;
}

/** A connection that its task may not have. */
class Refusal extends Error {
  readonly reason: Reason;

  constructor(reason: Reason) {
    super(reason);
    this.reason = reason;
  }
}

/** The host gave no answer. */
class Unreachable extends Error {}

/**
 * The way out of sandboxes that may have one: an HTTP proxy on a socket of the task, outside its sandbox. A
 * connection passes these gates in order, and the first one that it fails ends it:
 *
 *   CONNECT name:443
 *   → the name is in the task's list
 *   → all of its addresses are in the open internet, or the operator named the host as private
 *   → one of them answers → 200
 *   → the first bytes are a TLS handshake for that name
 *   → bytes, both ways, as fast as the slower end reads
 *
 * An endpoint of the operator's (a registry) may have another port, and may do without TLS: then a request in
 * absolute form passes too (forward.ts). The proxy dials what it checked: a name is looked up once. It sees
 * nothing inside TLS.
 */
export class EgressProxy {
  readonly counters: NonNullable<RunnerStatus['egress']> = { allowed: 0, refused: 0 };
  readonly #outside: Outside;
  readonly #lookups = new Map<string, Promise<string[]>>();

  constructor(outside: Outside = internet()) {
    this.#outside = outside;
  }

  /** Serves the proxy to one task's sandbox. Returns the socket's name. */
  async open(sockets: TaskSockets, reach: Reach, onRefused: (refused: Refused) => void): Promise<string> {
    const task: Task = { policy: new Policy(reach), onRefused, visitors: 0, isFull: false };
    const deadlines = new WeakMap<object, NodeJS.Timeout>();
    // It listens nowhere, so its own time limits do not run.
    const server = createServer({ maxHeaderSize: HEADER_BYTES }, (req, res) => {
      clearTimeout(deadlines.get(req.socket));
      void this.#answerPlain(task, req, res).catch(() => res.destroy());
    });
    // Each opens a connection outside, and only visitors are counted.
    server.maxRequestsPerSocket = 1;
    server.on('connect', (req: IncomingMessage, socket, head: Buffer) => {
      clearTimeout(deadlines.get(socket));
      void this.#connect(task, req.url ?? '', socket as Socket, head).catch(() => socket.destroy());
    });
    // Beyond its connections a task gets an answer; beyond twice as many, none.
    await sockets.listen(NAME, 2 * CONNECTIONS, (visitor) => {
      visitor.once('close', () => task.visitors--);
      if (++task.visitors > CONNECTIONS) return this.#refuseOneTooMany(task, visitor);
      const timer = setTimeout(() => visitor.destroy(), HEADER_MS);
      deadlines.set(visitor, timer);
      visitor.once('close', () => clearTimeout(timer));
      server.emit('connection', visitor);
      visitor.resume();
    });
    return NAME;
  }

  async #connect(task: Task, url: string, visitor: Socket, head: Buffer): Promise<void> {
    const target = targetOf(url);
    const { host, port } = target ?? { host: url, port: 0 };
    try {
      const found = allowed(task.policy.checkTunnel(target));
      const outside = await this.#reach(found, visitor);
      if (!outside) return;
      visitor.write('HTTP/1.1 200 Connection established\r\n\r\n');
      if (found.tls) return await this.#joinTls(task, { found, host }, visitor, { outside, head });
      this.counters.allowed++;
      join(visitor, outside, head);
    } catch (error) {
      if (error instanceof Refusal) {
        this.#refuse(task, { host, port, reason: error.reason });
        end(visitor, refusal(error.reason, host));
      } else if (error instanceof Unreachable) end(visitor, answer(504, `${error.message}\n`));
      else throw error;
    }
  }

  /** Joins both ends once the visitor's first bytes are a TLS handshake for the name. */
  async #joinTls(
    task: Task,
    { found, host }: { found: Allowed; host: string },
    visitor: Socket,
    { outside, head }: { outside: Socket; head: Buffer },
  ): Promise<void> {
    const hello = await helloFrom(visitor, head);
    if (hello && plainName(hello.serverName) === found.name) {
      this.counters.allowed++;
      return join(visitor, outside, hello.bytes);
    }
    outside.destroy();
    if (hello === undefined) return void visitor.destroy();
    this.#refuse(task, { host, port: found.port, reason: 'server_name' });
    end(visitor, UNRECOGNIZED_NAME);
  }

  /**
   * A connection to the name, at an address that was checked; undefined when the visitor has left. Throws
   * Refusal, Unreachable.
   */
  async #reach({ name, port, mayBePrivate }: Allowed, visitor: Socket): Promise<Socket | undefined> {
    const addresses = await this.#lookUp(name);
    if (!addresses.every((address) => isIP(address) !== 0 && (mayBePrivate || !isPrivateAddress(address))))
      throw new Refusal('private_address');
    if (visitor.destroyed) return undefined;
    const outside = await this.#outside.dial(addresses, port).catch(() => {
      throw new Unreachable(`${name} does not answer.`);
    });
    // Bytes of either direction pass through this socket: while it is idle, both are.
    outside.on('error', () => outside.destroy()).setTimeout(IDLE_MS, () => outside.destroy());
    if (!visitor.destroyed) return outside;
    outside.destroy();
    return undefined;
  }

  /** Throws Refusal. */
  async #lookUp(name: string): Promise<string[]> {
    let lookup = this.#lookups.get(name);
    if (!lookup) {
      if (this.#lookups.size >= LOOKUPS) throw new Refusal('limit');
      lookup = this.#outside.resolve(name).finally(() => this.#lookups.delete(name));
      this.#lookups.set(name, lookup);
    }
    const addresses = await lookup.catch(() => []);
    if (addresses.length === 0) throw new Refusal('unresolved');
    return addresses;
  }

  #refuse({ onRefused }: Task, refused: Refused): void {
    this.counters.refused++;
    onRefused(refused);
  }

  /** Reported once: a thousand entries would say no more. */
  #refuseOneTooMany(task: Task, visitor: Socket): void {
    if (!task.isFull) task.onRefused({ host: '', port: 0, reason: 'limit' });
    task.isFull = true;
    end(visitor, refusal('limit', ''));
  }

  /** Answers everything but CONNECT. */
  async #answerPlain(task: Task, req: IncomingMessage, res: ServerResponse): Promise<void> {
    const url = URL.parse(req.url ?? '');
    if (!url)
      return say(res, {
        status: 400,
        text: 'This is an HTTP proxy: set HTTPS_PROXY to its address, and use https URLs.\n',
      });
    const target = { host: url.hostname, port: Number(url.port) || (url.protocol === 'https:' ? 443 : 80) };
    try {
      const found = allowed(url.protocol === 'http:' ? task.policy.checkPlain(target) : NOT_TLS);
      const outside = await this.#reach(found, req.socket);
      if (!outside) return;
      this.counters.allowed++;
      forward({ req, res, url }, outside, () =>
        say(res, { status: 504, text: `${found.name} does not answer.\n` }),
      );
    } catch (error) {
      if (error instanceof Refusal) {
        const { reason } = error;
        this.#refuse(task, { ...target, reason });
        say(res, { status: 403, text: refusalText(reason, target.host), phrase: refusalPhrase(reason) });
      } else if (error instanceof Unreachable) say(res, { status: 504, text: `${error.message}\n` });
      else throw error;
    }
  }
}

const NOT_TLS = { reason: 'not_tls' as const };

/** Throws Refusal. */
function allowed(found: Allowed | { reason: Reason }): Allowed {
  if ('reason' in found) throw new Refusal(found.reason);
  return found;
}

function say(
  res: ServerResponse,
  { status, text, phrase = STATUS_CODES[status]! }: { status: number; text: string; phrase?: string },
): void {
  res
    .writeHead(status, phrase, {
      'content-type': 'text/plain; charset=utf-8',
      'content-length': Buffer.byteLength(text),
      connection: 'close',
    })
    .end(text);
}

/**
 * Compared as the client wrote it: a URL parser would read `good.example/.other.example` as `good.example`,
 * and a router that looks at the end of the name would not.
 */
const plainName = (serverName: string): string => serverName.toLowerCase().replace(/\.$/, '');

function join(visitor: Socket, outside: Socket, said: Buffer): void {
  // The connection may have closed during the handshake.
  if (outside.destroyed) return void visitor.destroy();
  outside.write(said);
  joinSockets(visitor, outside);
  // The task's end closes its visitors: a server that does not read would keep their last bytes waiting for
  // minutes.
  visitor.once('close', () => {
    const timer = setTimeout(() => outside.destroy(), LINGER_MS);
    outside.once('close', () => clearTimeout(timer));
  });
}

/** Ends a connection with its last words; does not wait for a reader. */
function end(visitor: Socket, words: string | Buffer): void {
  const timer = setTimeout(() => visitor.destroy(), LINGER_MS);
  visitor
    .once('close', () => clearTimeout(timer))
    .once('end', () => visitor.destroySoon())
    .resume();
  visitor.end(words);
}

/**
 * The bytes up to the end of a ClientHello, or beyond, and the name in it; null where there is none or it
 * takes too long, undefined where the visitor left first. The socket is paused afterwards.
 */
function helloFrom(
  visitor: Socket,
  head: Buffer,
): Promise<{ bytes: Buffer; serverName: string } | null | undefined> {
  return new Promise((resolve) => {
    let bytes = head;
    const done = (serverName: string | null | undefined): void => {
      clearTimeout(timer);
      visitor.off('data', onData).off('end', onEnd).off('close', onEnd).pause();
      resolve(typeof serverName === 'string' ? { bytes, serverName } : serverName);
    };
    const look = (): void => {
      const serverName = serverNameOf(bytes);
      if (serverName !== undefined || bytes.length > HELLO_BYTES) done(serverName ?? null);
    };
    const onData = (part: Buffer): void => {
      bytes = Buffer.concat([bytes, part]);
      look();
    };
    const onEnd = (): void => done(undefined);
    const timer = setTimeout(() => done(null), HELLO_MS);
    visitor.on('data', onData).once('end', onEnd).once('close', onEnd);
    look();
  });
}
