import type { Socket } from 'node:net';

/**
 * Pipes two sockets (allowHalfOpen) into each other. When one closes, the other closes after its remaining
 * bytes.
 */
export function joinSockets(one: Socket, other: Socket): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on('error', () => to.destroy()).on('close', () => to.destroySoon());
    from.pipe(to);
  }
}
