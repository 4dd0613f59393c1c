/**
 * A TCP proxy that cuts connections at a given byte. It counts within an exchange: a request, which starts with the
 * client's first bytes after an answer, and its answer.
 */
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

export interface Cut {
  /** `request`: how many bytes of the request the service gets; `response`: how many of the answer the client gets. */
  side: 'request' | 'response';
  after: number;
}

export interface CuttingProxy {
  base: string;
  /** How many connections were cut. */
  cuts(): number;
  /** What passed through in the last exchange. */
  last(): { request: number; response: number };
  /** Cuts all current connections. */
  cutAll(): void;
  close(): Promise<void>;
}

/** Calls `plan` at the start of each exchange, with the first bytes of its request; null: no cut. */
export async function startCuttingProxy(
  target: string,
  plan: (request: Buffer) => Cut | null,
): Promise<CuttingProxy> {
  const { hostname, port } = new URL(target);
  const open = new Set<Socket>();
  let cuts = 0;
  let exchange = { request: 0, response: 0, cut: null as Cut | null };

  const server = createServer({ allowHalfOpen: false }, (client) => {
    const upstream = connect(Number(port), hostname);
    let own = { request: 0, response: 1, cut: null as Cut | null };
    const end = (): void => {
      client.destroy();
      upstream.destroy();
    };
    const cut = (): void => {
      cuts++;
      end();
    };
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.setNoDelay(true);
      socket.on('error', end).once('close', () => {
        open.delete(socket);
        end();
      });
    }

    /** Forwards bytes, and cuts the connection once the kernel has the last of them. */
    function pass(side: Cut['side'], part: Buffer, [from, to]: [Socket, Socket]): void {
      const left = own.cut?.side === side ? own.cut.after - own[side] : Infinity;
      own[side] += Math.min(part.length, left);
      if (part.length >= left) {
        from.pause();
        if (left === 0) cut();
        else to.end(part.subarray(0, left), cut);
      } else if (!to.write(part)) {
        from.pause();
        to.once('drain', () => from.resume());
      }
    }
    client.on('data', (part: Buffer) => {
      if (own.response > 0) exchange = own = { request: 0, response: 0, cut: plan(part) };
      pass('request', part, [client, upstream]);
    });
    upstream.on('data', (part: Buffer) => pass('response', part, [upstream, client]));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cuts: () => cuts,
    last: () => ({ request: exchange.request, response: exchange.response }),
    cutAll() {
      for (const socket of open) socket.destroy();
    },
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}
