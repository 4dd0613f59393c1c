import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { joinSockets } from '@headrace/agent/join-sockets.ts';
import type { RunnerStatus } from '../protocol.ts';
import type { TaskSockets } from '../sandbox/sockets.ts';
import { isPrivateAddress } from './addresses.ts';
import { answer, refusalText } from './answers.ts';
import { serverNameOf, UNRECOGNIZED_NAME } from './client-hello.ts';
import { internet, type Outside } from './outside.ts';
import { HostList, targetOf, type Reason } from './policy.ts';

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

/** `connections`: the task had too many connections at once, and nothing of this one was read. */
export interface Refused {
  host: string;
  port: number;
  reason: Reason | 'connections';
}
interface Task {
  hosts: HostList;
  onRefused: (refused: Refused) => void;
  isFull: boolean;
}

class Unreachable extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * The way out of sandboxes that may have one: an HTTP proxy on a socket of the task, outside its sandbox. A
 * connection passes these gates in order, and the first one that it fails ends it:
 *
 *   CONNECT name:443
 *   → the name is in the task's list
 *   → all of its addresses are in the open internet
 *   → one of them answers → 200
 *   → the first bytes are a TLS handshake for that name
 *   → bytes, both ways, as fast as the slower end reads
 *
 * The proxy dials what it checked: a name is looked up once. It sees nothing inside TLS.
 */
export class EgressProxy {
  readonly counters: NonNullable<RunnerStatus['egress']> = { allowed: 0, refused: 0 };
  readonly #outside: Outside;
  readonly #lookups = new Map<string, Promise<string[]>>();

  constructor(outside: Outside = internet()) {
    this.#outside = outside;
  }

  /** Serves the proxy to one task's sandbox. Returns the socket's name. */
  async open(sockets: TaskSockets, hosts: string[], onRefused: (refused: Refused) => void): Promise<string> {
    const task: Task = { hosts: new HostList(hosts), onRefused, isFull: false };
    // It listens nowhere, so its own time limits do not run.
    const server = createServer({ maxHeaderSize: HEADER_BYTES }, (req, res) =>
      this.#answerPlain(task, req, res),
    );
    const deadlines = new WeakMap<object, NodeJS.Timeout>();
    server.on('connect', (req: IncomingMessage, socket, head: Buffer) => {
      clearTimeout(deadlines.get(socket));
      void this.#connect(task, req.url ?? '', socket as Socket, head).catch(() => socket.destroy());
    });
    await sockets.listen(
      NAME,
      CONNECTIONS,
      (visitor) => {
        const timer = setTimeout(() => visitor.destroy(), HEADER_MS);
        deadlines.set(visitor, timer);
        visitor.once('close', () => clearTimeout(timer));
        server.emit('connection', visitor);
        visitor.resume();
      },
      () => {
        // Once: a thousand entries would say no more.
        if (!task.isFull) onRefused({ host: '', port: 0, reason: 'connections' });
        task.isFull = true;
      },
    );
    return NAME;
  }

  async #connect(task: Task, url: string, visitor: Socket, head: Buffer): Promise<void> {
    const target = targetOf(url);
    const found = target ? task.hosts.check(target) : { reason: 'invalid' as const };
    const { host, port } = target ?? { host: url, port: 0 };
    const refuse = (reason: Reason): void => this.#refuse(task, { host, port, reason });
    if ('reason' in found) {
      refuse(found.reason);
      return end(visitor, answer(403, refusalText(found.reason, host)));
    }
    try {
      const addresses = await this.#lookUp(found.name);
      if (!addresses.every((address) => isIP(address) !== 0 && !isPrivateAddress(address))) {
        refuse('private_address');
        return end(visitor, answer(403, refusalText('private_address', host)));
      }
      const outside = visitor.destroyed ? undefined : await this.#dial(found.name, addresses, port);
      if (!outside) return;
      if (visitor.destroyed) return void outside.destroy();
      visitor.write('HTTP/1.1 200 Connection established\r\n\r\n');
      const hello = await helloFrom(visitor, head);
      if (hello && plainName(hello.serverName) === found.name) {
        this.counters.allowed++;
        return join(visitor, outside, hello.bytes);
      }
      outside.destroy();
      if (hello === undefined) return void visitor.destroy();
      refuse('server_name');
      end(visitor, UNRECOGNIZED_NAME);
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      end(visitor, answer(error.status, `${error.message}\n`));
    }
  }

  /** Throws Unreachable. */
  async #lookUp(name: string): Promise<string[]> {
    let lookup = this.#lookups.get(name);
    if (!lookup) {
      if (this.#lookups.size >= LOOKUPS)
        throw new Unreachable(503, 'Too many names are being looked up. Try again.');
      lookup = this.#outside.resolve(name).finally(() => this.#lookups.delete(name));
      this.#lookups.set(name, lookup);
    }
    const addresses = await lookup.catch(() => {
      throw new Unreachable(502, `The address of ${name} could not be looked up.`);
    });
    if (addresses.length === 0) throw new Unreachable(502, `${name} has no address.`);
    return addresses;
  }

  async #dial(name: string, addresses: string[], port: number): Promise<Socket> {
    const socket = await this.#outside.dial(addresses, port).catch(() => {
      throw new Unreachable(504, `${name} does not answer.`);
    });
    // Bytes of either direction pass through this socket: while it is idle, both are.
    return socket.on('error', () => socket.destroy()).setTimeout(IDLE_MS, () => socket.destroy());
  }

  #refuse({ onRefused }: Task, refused: Refused): void {
    this.counters.refused++;
    onRefused(refused);
  }

  /** Answers everything but CONNECT. */
  #answerPlain(task: Task, req: IncomingMessage, res: ServerResponse): void {
    const url = URL.parse(req.url ?? '');
    if (url) this.#refuse(task, { host: url.hostname, port: Number(url.port) || 80, reason: 'not_tls' });
    const text = url
      ? refusalText('not_tls', url.hostname)
      : 'This is an HTTP proxy that takes CONNECT only: set HTTPS_PROXY to its address, and use https URLs.\n';
    res
      .writeHead(url ? 403 : 400, {
        'content-type': 'text/plain; charset=utf-8',
        'content-length': Buffer.byteLength(text),
        connection: 'close',
      })
      .end(text);
  }
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
