import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { joinSockets } from '../../../agent/src/join-sockets.ts';
import { RunnerError } from '../errors.ts';
import type { Gateways } from '../gateways.ts';
import { GATEWAY_PORT } from '../protocol.ts';
import type { Bind } from '../sandbox/bubblewrap.ts';
import { GUEST } from '../sandbox/guest.ts';
import type { Host } from '../sandbox/host.ts';

const INSIDE = '/run/headrace';
/** The port's socket as a sandbox sees it. */
export const GATEWAY_SOCKET = `${INSIDE}/gateway`;
const CONNECTIONS = 64;
const WAIT_MS = 60_000, LOOK_MS = 50;
const RELAY_TIMEOUT_MS = 10_000;

/** Starts the relay beside the agent; descriptor 6 is the relay's alone. */
const SCRIPT = `node ${GUEST}/gateway-relay.cjs ${GATEWAY_SOCKET} ${GATEWAY_PORT} <&6 >&6 2>/dev/null 6>&- &
exec 6>&-
exec "$@"`;

/** The command with the relay that makes an HTTP port of the socket; uses one of the sandbox's inputs. */
export const withRelay = (command: string[]): string[] => ['/bin/sh', '-c', SCRIPT, 'sh', ...command];

/** Resolves when the relay listens. Throws `sandbox_lost` 500 when it does not within 10 s. */
export async function relayListens(said: Readable): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const fail = (): void => reject(new RunnerError(500, 'sandbox_lost', 'The relay to the model gateway did not start.'));
    const timer = setTimeout(fail, RELAY_TIMEOUT_MS);
    said.once('data', () => resolve()).once('close', fail).once('close', () => clearTimeout(timer)).once('data', () => clearTimeout(timer));
  });
  said.resume();
}

/** One task's way to the model gateway: a unix socket that its sandbox sees, each connection joined to a worker and told whose it is. */
export class GatewayPort {
  readonly bind: Bind;
  readonly #taskId: string;
  readonly #gateways: Gateways;
  readonly #server: Server;
  readonly #visitors = new Set<Socket>();

  private constructor(folder: string, taskId: string, gateways: Gateways) {
    this.bind = { host: folder, inside: INSIDE, readOnly: true };
    this.#taskId = taskId;
    this.#gateways = gateways;
    this.#server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (visitor) => void this.#arrived(visitor));
    this.#server.maxConnections = CONNECTIONS;
  }

  static async open(host: Host, taskId: string, gateways: Gateways): Promise<GatewayPort> {
    const folder = join(host.base, 'w', `gateway-${randomUUID().slice(0, 8)}`);
    mkdirSync(folder, { mode: 0o755 });
    const port = new GatewayPort(folder, taskId, gateways);
    await new Promise<void>((resolve, reject) => {
      port.#server.once('error', reject).listen({ path: join(folder, 'gateway'), readableAll: true, writableAll: true }, resolve);
    });
    return port;
  }

  close(): void {
    this.#server.close();
    for (const visitor of this.#visitors) visitor.destroy();
    rmSync(this.bind.host, { recursive: true, force: true });
  }

  /** A visitor waits, unread, until a worker is there. */
  async #arrived(visitor: Socket): Promise<void> {
    this.#visitors.add(visitor);
    visitor.on('error', () => visitor.destroy()).once('close', () => this.#visitors.delete(visitor));
    for (const deadline = Date.now() + WAIT_MS; !visitor.destroyed && Date.now() < deadline; await sleep(LOOK_MS)) {
      const worker = await this.#gateways.dial();
      if (!worker) continue;
      if (visitor.destroyed) return void worker.destroy();
      worker.write(`task ${this.#taskId}\n`);
      return joinSockets(visitor, worker);
    }
    visitor.destroy();
  }
}
