/** The way of a host to its service: a TCP relay that can be cut. */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

interface Pair {
  /** Of the host. */
  near: Socket;
  /** Of the service. */
  far: Socket;
  isLeft: boolean;
}

export interface Line {
  base: string;
  /** Ends all connections, and refuses others until `mend`. */
  cut(): void;
  /** The same for the host alone: the service hears nothing of it, until what this returns is called. */
  leave(): () => void;
  mend(): void;
  close(): void;
}

export async function openLine(base: string): Promise<Line> {
  const { hostname, port } = new URL(base);
  let isCut = false;
  const pairs = new Set<Pair>();
  const server = createServer((near) => {
    if (isCut) return void near.destroy();
    const pair: Pair = { near, far: connect(Number(port), hostname), isLeft: false };
    const { far } = pair;
    pairs.add(pair);
    near.on('error', () => {}).once('close', () => pair.isLeft || far.destroy());
    far
      .on('error', () => {})
      .once('close', () => {
        pairs.delete(pair);
        near.destroy();
      });
    near.pipe(far, { end: false });
    far.pipe(near, { end: false });
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const)
      from.once('end', () => pair.isLeft || to.end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endAll = (): void => {
    for (const { near, far } of pairs) for (const socket of [near, far]) socket.destroy();
  };
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut() {
      isCut = true;
      endAll();
    },
    leave() {
      isCut = true;
      const left = [...pairs];
      for (const pair of left) {
        pair.isLeft = true;
        pair.near.destroy();
        // What the service says arrives nowhere.
        pair.far.unpipe();
        pair.far.resume();
      }
      return () => {
        for (const { far } of left) far.destroy();
      };
    },
    mend() {
      isCut = false;
    },
    close() {
      server.close();
      endAll();
    },
  };
}
