/**
 * One process per file. Node has no file locks; the name of a socket is the kernel's, taken by one process at a time, and
 * free again when it has ended, however it died. It is unique on this machine, not on a shared file system.
 */
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** False if another process has the file; else the function that frees it. */
export async function lockFile({ dev, ino }: BigIntStats): Promise<(() => void) | false> {
  const name = `headrace-${createHash('sha256').update(`${dev}:${ino}`).digest('hex').slice(0, 32)}`;
  const address = addressOf(name);
  const server = await listening(address);
  if (server) return () => server.close();
  // Elsewhere than on Linux and Windows, the socket of a process that was killed remains as a file.
  if (address.startsWith('\0') || process.platform === 'win32' || (await answers(address))) return false;
  rmSync(address, { force: true });
  const second = await listening(address);
  return second ? () => second.close() : false;
}

function addressOf(name: string): string {
  if (process.platform === 'linux') return `\0${name}`;
  return process.platform === 'win32' ? String.raw`\\.\pipe\${name}` : join(tmpdir(), `${name}.sock`);
}

const listening = (address: string): Promise<Server | false> =>
  new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' || error.code === 'EACCES' ? resolve(false) : reject(error),
    );
    server.listen(address, () => {
      server.unref();
      resolve(server);
    });
  });

const answers = (address: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(address, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
