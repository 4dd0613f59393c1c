/** The runner's line before an agent's bytes: `task <run id>`. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

const LINE_BYTES = 128;
const LINE_MS = 5_000;
const LINE = /^task (run_[0-9a-z]{26})$/;

const runs = new WeakMap<Socket, string>();

/** The run from whose sandbox a connection comes. */
export const runOfSocket = (socket: Socket): string | undefined => runs.get(socket);

/**
 * Reads the line and passes the rest to the HTTP server. A connection without such a line within 5 s is
 * closed.
 */
export function acceptTask(socket: Socket, server: Server): void {
  let head = Buffer.alloc(0);
  const timer = setTimeout(() => socket.destroy(), LINE_MS);
  const onError = () => socket.destroy();
  const onData = (chunk: Buffer) => {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf(10);
    if (end < 0 && head.length <= LINE_BYTES) return;
    socket.pause();
    socket.off('data', onData).off('error', onError);
    clearTimeout(timer);
    const run = LINE.exec(
      head.subarray(0, Math.min(end < 0 ? 0 : end, LINE_BYTES + 1)).toString('latin1'),
    )?.[1];
    if (run === undefined) return void socket.destroy();
    runs.set(socket, run);
    if (end + 1 < head.length) socket.unshift(head.subarray(end + 1));
    server.emit('connection', socket);
    socket.resume();
  };
  socket
    .on('data', onData)
    .on('error', onError)
    .once('close', () => clearTimeout(timer));
}
