import { chmodSync, mkdirSync, unlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { makeServer } from './http/server.ts';
import type { RunnerProcess } from './runner-process.ts';

/** Prepares the socket's folder. Throws where a runner listens there already. */
export async function claimSocket(socket: string): Promise<void> {
  mkdirSync(dirname(socket), { recursive: true, mode: 0o700 });
  if (await answers(socket)) throw new Error(`a runner listens on ${socket} already`);
}

/**
 * Serves the workers of this machine on a unix socket, until no worker was there for `idleMs`, or SIGTERM.
 * Throws where it cannot listen.
 */
export async function serveSocket(
  { runner, warm, leave }: RunnerProcess,
  socket: string,
  idleMs: number,
): Promise<void> {
  const { server, use } = makeServer(runner);
  // Another runner may have started while this one was slow.
  await claimSocket(socket);
  // The socket file that a killed runner left behind.
  try {
    unlinkSync(socket);
  } catch {
    /* none there */
  }
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(socket, resolve);
  });
  chmodSync(socket, 0o600);
  const end = (): void => {
    server.close();
    server.closeAllConnections();
    void leave(0);
  };
  setInterval(
    () => {
      if (use.underWay === 0 && Date.now() - use.lastAt > idleMs) end();
    },
    Math.min(1000, idleMs / 4),
  );
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
  process.stdout.write('{"ready":true}\n');
  warm();
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path, () => {
      probe.destroy();
      resolve(true);
    });
    probe.once('error', () => resolve(false));
  });
}
