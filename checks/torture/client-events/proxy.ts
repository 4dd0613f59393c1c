/** A TCP proxy that harms each connection once, after a random number of bytes of the service's answers. */
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import type { Random } from '../../harness/random.ts';
import type { Setup } from '../lib/part.ts';

/** `cut`: with a reset; `close`: as after a whole answer; `stall`: forever. */
export type Harm = 'cut' | 'close' | 'stall';

export interface Proxy {
  base: string;
  harmed: Record<Harm, number>;
}

/** A stall costs the reader its full silence timeout. */
const HARMS: Harm[] = ['cut', 'cut', 'cut', 'cut', 'close', 'close', 'close', 'close', 'close', 'stall'];

/** `bytes`: average size of the answers on a connection before it is harmed. Closed with the part. */
export async function startProxy(setup: Setup, target: string, bytes: number): Promise<Proxy> {
  const { hostname, port } = new URL(target);
  const random = setup.random.fork('proxy');
  const harmed = { cut: 0, close: 0, stall: 0 };
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(from);
      from
        .on('error', () => to.destroy())
        .on('close', () => {
          open.delete(from);
          to.destroy();
        });
    }
    client.pipe(upstream);
    pass(upstream, client, { random, bytes, harmed });
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => {
    server.once('listening', resolve);
  });
  setup.atEnd(() => {
    server.close();
    for (const socket of open) socket.destroy();
  });
  return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, harmed };
}

interface Harming {
  random: Random;
  bytes: number;
  harmed: Record<Harm, number>;
}

function pass(upstream: Socket, client: Socket, { random, bytes, harmed }: Harming): void {
  let left = 1 + random.below(2 * bytes);
  const harm = random.pick(HARMS);
  upstream.on('end', () => client.end());
  upstream.on('data', (chunk: Buffer) => {
    if (left <= 0) return;
    const isLast = chunk.length >= left;
    const isTaken = client.write(chunk.subarray(0, left));
    left -= chunk.length;
    if (!isLast) {
      if (!isTaken) {
        upstream.pause();
        client.once('drain', () => upstream.resume());
      }
      return;
    }
    harmed[harm]++;
    if (harm === 'cut') client.resetAndDestroy();
    // The service still writes, but nothing reads.
    else if (harm === 'close') client.end();
  });
}
