/** The way of a host to its service: a TCP relay on a fixed port that can be cut, and led to another service. */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

export interface Line {
  base: string;
  leadTo(base: string): void;
  /** Ends all connections, and refuses others until `mend`. */
  cut(): void;
  mend(): void;
  close(): void;
}

export async function openLine(base: string): Promise<Line> {
  let target = new URL(base),
    isCut = false;
  const open = new Set<Socket>();
  const server = createServer((near) => {
    if (isCut) return void near.destroy();
    const far = connect(Number(target.port), target.hostname);
    const end = (): void => {
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on('error', end).once('close', () => {
        open.delete(socket);
        end();
      });
    }
    near.pipe(far);
    far.pipe(near);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endAll = (): void => {
    for (const socket of open) socket.destroy();
  };
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    leadTo(other) {
      target = new URL(other);
    },
    cut() {
      isCut = true;
      endAll();
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
