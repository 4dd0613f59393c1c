/**
 * A TCP proxy that cuts connections at a given byte. It counts within an exchange: a request, which begins with the
 * first bytes of a client after an answer, and its answer.
 */
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

export interface Cut {
  /** `request`: the service gets so many bytes of the request; `response`: the client gets so many of the answer. */
  side: 'request' | 'response';
  after: number;
}

export interface CuttingProxy {
  base: string;
  /** How many connections were cut. */
  cuts(): number;
  /** Of the last exchange: what went through. */
  last(): { request: number; response: number };
  /** Cuts all connections there are now. */
  cutAll(): void;
  close(): Promise<void>;
}

/** `plan` is asked at the beginning of each exchange, with the first bytes of its request; null: no cut. */
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

    /** Passes bytes on, and cuts the connection once the last of them is with the kernel. */
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
