import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { NODE, type Bind } from './driver.ts';
import { GUEST } from './guest.ts';
import { makeSandboxFolder, type Host } from './host.ts';

/** Where a sandbox sees its task's sockets. */
export const SOCKETS = '/run/headrace';

/**
 * The unix sockets on which the runner listens for one task's sandbox, in a folder that the sandbox sees
 * read-only. The runner never dials in: a path in the sandbox could lead anywhere on the host. The folder
 * belongs to the sandbox's user: other accounts of the machine can see in /proc where its sockets are, but
 * cannot use them.
 */
export class TaskSockets {
  readonly #host: Host;
  #folder: string | undefined;
  readonly #servers: Server[] = [];
  readonly #visitors = new Set<Socket>();

  constructor(host: Host) {
    this.#host = host;
  }

  /** The mount that makes the sockets visible inside; none while nothing listens. */
  get binds(): Bind[] {
    return this.#folder !== undefined ? [{ host: this.#folder, inside: SOCKETS, readOnly: true }] : [];
  }

  /**
   * Listens on SOCKETS/name. A visitor arrives paused, and is destroyed with the task. Visitors above
   * `maxConnections` are closed.
   */
  async listen(name: string, maxConnections: number, onVisitor: (visitor: Socket) => void): Promise<void> {
    const folder = (this.#folder ??= makeSandboxFolder(this.#host, `sockets-${randomUUID().slice(0, 8)}`));
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (visitor) => {
      this.#visitors.add(visitor);
      visitor.on('error', () => visitor.destroy()).once('close', () => this.#visitors.delete(visitor));
      onVisitor(visitor);
    });
    server.maxConnections = maxConnections;
    await new Promise<void>((resolve, reject) => {
      server
        .once('error', reject)
        .listen({ path: join(folder, name), readableAll: true, writableAll: true }, resolve);
    });
    this.#servers.push(server);
  }

  close(): void {
    for (const server of this.#servers) server.close();
    for (const visitor of this.#visitors) visitor.destroy();
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
  }
}

/**
 * Waits until the relay listens (or died) before the command begins: otherwise its first connection would
 * come too early. The relay closes its output then, which ends the substitution. Needs nothing but a POSIX sh.
 */
const WITH_PORTS = `: "$(${NODE} ${GUEST}/port-relay.cjs $1 </dev/null 2>/dev/null &)"
shift
exec "$@"`;

/** The command, with loopback ports that are joined to sockets of its task: port → name of the socket. */
export function withPorts(command: string[], ports: Record<number, string>): string[] {
  const pairs = Object.entries(ports).map(([port, name]) => `${port} ${SOCKETS}/${name}`);
  return pairs.length === 0 ? command : ['/bin/sh', '-c', WITH_PORTS, 'sh', pairs.join(' '), ...command];
}
