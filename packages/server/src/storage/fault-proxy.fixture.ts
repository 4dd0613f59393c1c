/**
 * A TCP proxy before a server of HTTP/1.1, which injects faults into exchanges: a request, which begins with the client's
 * first bytes after an answer, and its answer.
 */
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

type Side = 'request' | 'response';

/** `after` counts bytes of that side of the exchange, headers included. */
export type Fault =
  /** The proxy answers 503 itself; the server sees nothing. */
  | { kind: 'slow-down' }
  /** Both get an RST. */
  | { kind: 'reset'; side: Side; after: number }
  /** The client sees the end of the connection. */
  | { kind: 'cut'; after: number }
  /** Nothing passes from there on, until one of them gives up. */
  | { kind: 'stall'; side: Side; after: number }
  /** One byte of the answer is another. */
  | { kind: 'garble'; after: number };

export interface FaultProxy {
  endpoint: string;
  /** How many of each kind took effect. */
  readonly counts: Record<Fault['kind'], number>;
  /** Open sockets, two for each connection. */
  sockets(): number;
  close(): Promise<void>;
}

const HEAD_BYTES = 4_096;
const SLOW_DOWN =
  '<?xml version="1.0" encoding="UTF-8"?><Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>';
const SLOW_DOWN_ANSWER = `HTTP/1.1 503 Slow Down\r\ncontent-type: application/xml\r\ncontent-length: ${SLOW_DOWN.length}\r\nconnection: close\r\n\r\n${SLOW_DOWN}`;

/** `plan` gets the first bytes of each request: its head, or most of it. */
export async function startFaultProxy(
  target: string,
  plan: (head: string) => Fault | null,
): Promise<FaultProxy> {
  const { hostname, port } = new URL(target);
  const counts = { 'slow-down': 0, reset: 0, cut: 0, stall: 0, garble: 0 };
  const open = new Set<Socket>();
  const server = createServer((client) => {
    new Connection(client, connect(Number(port), hostname), { plan, counts }).follow(open);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts,
    sockets: () => open.size,
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

interface Plans {
  plan: (head: string) => Fault | null;
  counts: FaultProxy['counts'];
}

class Connection {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #plans: Plans;
  #passed = { request: 0, response: 1 };
  #fault: Fault | null = null;
  /** No byte passes any more. */
  #isOver = false;

  constructor(client: Socket, server: Socket, plans: Plans) {
    this.#client = client;
    this.#server = server;
    this.#plans = plans;
  }

  follow(open: Set<Socket>): void {
    for (const [socket, other] of [
      [this.#client, this.#server],
      [this.#server, this.#client],
    ] as const) {
      open.add(socket);
      socket
        .setNoDelay(true)
        .on('error', () => other.destroy())
        .once('close', () => {
          open.delete(socket);
          // What was written to it still goes out.
          other.destroySoon();
        });
    }
    this.#client.on('data', (bytes: Buffer) => {
      if (this.#isOver) return;
      if (this.#passed.response > 0) this.#begin(bytes);
      this.#pass('request', bytes);
    });
    this.#server.on('data', (bytes: Buffer) => {
      if (!this.#isOver) this.#pass('response', bytes);
    });
  }

  #begin(bytes: Buffer): void {
    this.#passed = { request: 0, response: 0 };
    this.#fault = this.#plans.plan(bytes.toString('latin1', 0, HEAD_BYTES));
    if (this.#fault?.kind !== 'slow-down') return;
    this.#over();
    this.#client.end(SLOW_DOWN_ANSWER);
  }

  #pass(side: Side, bytes: Buffer): void {
    const [from, to] = side === 'request' ? [this.#client, this.#server] : [this.#server, this.#client];
    if (this.#isOver) return;
    const fault = this.#faultOf(side);
    const left = fault === null ? Infinity : fault.after - this.#passed[side];
    this.#passed[side] += bytes.length;
    if (bytes.length > left) bytes = this.#break(fault!, bytes, Math.max(0, left));
    if (bytes.length && !to.write(bytes)) {
      from.pause();
      to.once('drain', () => from.resume());
    }
  }

  #faultOf(side: Side) {
    const fault = this.#fault;
    if (fault === null || fault.kind === 'slow-down') return null;
    return ('side' in fault ? fault.side : 'response') === side ? fault : null;
  }

  /** Returns what still passes. */
  #break(fault: Exclude<Fault, { kind: 'slow-down' }>, bytes: Buffer, left: number): Buffer {
    if (fault.kind === 'garble') {
      this.#plans.counts.garble++;
      this.#fault = null;
      const garbled = Buffer.from(bytes);
      garbled[left]! ^= 1;
      return garbled;
    }
    this.#over();
    const before = bytes.subarray(0, left);
    if (fault.kind === 'stall') return before;
    const to = fault.kind === 'reset' && fault.side === 'request' ? this.#server : this.#client;
    to.write(before, () => {
      if (fault.kind === 'cut') this.#client.end();
      else for (const socket of [this.#client, this.#server]) socket.resetAndDestroy();
    });
    return Buffer.alloc(0);
  }

  #over(): void {
    this.#isOver = true;
    this.#plans.counts[this.#fault!.kind]++;
  }
}
