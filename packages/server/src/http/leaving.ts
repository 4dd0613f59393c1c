/**
 * The end of a process that others go on for. A caller that keeps its connection learns by an answer's `Connection: close`
 * not to send on it again. Without that, what it sends while the connection is being closed is lost.
 */
import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

/** Callers that send less often hardly meet the end of their connection. */
const LEAVE_MS = 500;
const LOOK_MS = 20;
const CLOSE_IDLE_MS = 20;

export function sayWhenLeaving(app: FastifyInstance, leaving: AbortSignal): void {
  app.addHook('onSend', async (_request, reply) => {
    if (leaving.aborted) reply.header('connection', 'close');
  });
}

/** Resolves when no connection is left, or after half a second. */
export async function connectionsEnd(server: Server): Promise<void> {
  for (const deadline = performance.now() + LEAVE_MS; performance.now() < deadline; await sleep(LOOK_MS))
    if ((await connectionsOf(server)) === 0) return;
}

const connectionsOf = (server: Server): Promise<number> =>
  new Promise((resolve) => server.getConnections((_, count) => resolve(count)));

/**
 * A connection whose request is answered while the server closes, a long poll's, is idle only then: it
 * would hold the end up for its keep-alive.
 */
export function closeAnswered(server: Server, shutdown: AbortSignal): void {
  shutdown.addEventListener(
    'abort',
    () => {
      const timer = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE_MS);
      server.once('close', () => clearInterval(timer));
    },
    { once: true },
  );
}
