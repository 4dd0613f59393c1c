import { connect, type Socket } from 'node:net';
import { RunnerError } from '../errors.ts';

/**
 * A worker that was silent for this long no longer serves a gateway; it announces its gateway every second.
 */
const SILENT_MS = 5_000;
const DIAL_TIMEOUT_MS = 2_000;
const LONGEST_SOCKET_PATH = 107;

/** Where a task's connections to the model gateway go. */
export interface GatewayDialer {
  /** A connection (allowHalfOpen) to a worker; undefined when none accepts one. */
  dial(): Promise<Socket | undefined>;
}

/** The sockets on which workers of this machine serve the model gateway. */
export class Gateways implements GatewayDialer {
  readonly #byId = new Map<string, { socketPath: string; seenAt: number }>();

  /** Records a sign of life; the first one for a socket makes it the newest. Throws `invalid_request` 400. */
  register(id: string, socketPath: string): void {
    if (!socketPath.startsWith('/') || Buffer.byteLength(socketPath) > LONGEST_SOCKET_PATH)
      throw new RunnerError(400, 'invalid_request', 'socketPath is no path of a unix socket.');
    const known = this.#byId.get(id);
    if (known?.socketPath === socketPath) known.seenAt = Date.now();
    else {
      this.#byId.delete(id);
      this.#byId.set(id, { socketPath, seenAt: Date.now() });
    }
  }

  /** A connection to the newest gateway that accepts one; undefined when none does. */
  async dial(): Promise<Socket | undefined> {
    for (const [id, { seenAt }] of this.#byId) if (Date.now() - seenAt > SILENT_MS) this.#byId.delete(id);
    for (const { socketPath } of [...this.#byId.values()].toReversed()) {
      const socket = await dial(socketPath);
      if (socket) return socket;
    }
    return undefined;
  }
}

function dial(path: string): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ path, allowHalfOpen: true });
    const fail = (): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(undefined);
    };
    const timer = setTimeout(fail, DIAL_TIMEOUT_MS);
    socket.once('error', fail).once('connect', () => {
      clearTimeout(timer);
      socket.off('error', fail);
      resolve(socket);
    });
  });
}
