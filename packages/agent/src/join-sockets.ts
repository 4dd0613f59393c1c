import type { Socket } from 'node:net';

const PATIENCE_MS = 60_000;
/** After so many times its patience a half-open pair is destroyed, though bytes still move. */
const TIMES = 12;

/**
 * Pipes two sockets (allowHalfOpen) into each other. When one closes, the other closes after its remaining
 * bytes. When one has ended, the other may go on for a while: both are destroyed once nothing has moved for
 * `patienceMs`, and at the latest after twelve times that. A peer that never closes its half would keep
 * their descriptors for ever.
 */
export function joinSockets(one: Socket, other: Socket, patienceMs = PATIENCE_MS): void {
  let timer: NodeJS.Timeout | undefined;
  const wait = (): void => {
    timer ??= whileMoving(one, other, patienceMs);
  };
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from
      .on('error', () => to.destroy())
      .on('end', wait)
      .on('close', () => {
        if (to.destroyed) clearInterval(timer);
        else {
          wait();
          to.destroySoon();
        }
      });
    if (from.destroyed) to.destroy();
    else from.pipe(to);
  }
}

function whileMoving(one: Socket, other: Socket, patienceMs: number): NodeJS.Timeout {
  const state = (): string =>
    [one, other].map((socket) => `${socket.bytesRead} ${socket.writableLength}`).join(' ');
  let last = state(),
    times = 0;
  const timer = setInterval(() => {
    const now = state();
    if (now !== last && ++times < TIMES) last = now;
    else for (const socket of [one, other]) socket.destroy();
  }, patienceMs);
  return timer.unref();
}
