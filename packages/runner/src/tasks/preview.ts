import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Duplex, Readable } from 'node:stream';
import { RunnerError } from '../errors.ts';
import type { PreviewRequest } from '../protocol.ts';
import { GUEST } from '../sandbox/guest.ts';
import type { Host } from '../sandbox/host.ts';
import type { Sandbox, SandboxSpec } from '../sandbox/sandbox.ts';
import type { Tree, Trees } from '../workspaces.ts';
import { runCommand } from './commands.ts';
import { Task, type WorkEnd } from './task.ts';

const DIAL_TIMEOUT_MS = 10_000;
const RELAY_FOLDER = '/run/headrace';

/** Starts the relay beside the command; descriptor 6 is the relay's alone. */
const SCRIPT = `node ${GUEST}/relay.cjs ${RELAY_FOLDER}/s "$2" <&6 >&6 2>/dev/null 6>&- &
exec 6>&-
exec /bin/sh -c "$1"`;

/**
 * A server in a sandbox of its own. Visitors reach it through a relay inside that dials out to a socket of the runner's: the runner
 * itself never opens a path that a sandbox could have replaced.
 */
export class PreviewTask extends Task {
  declare readonly request: PreviewRequest;
  readonly #trees: Trees;
  readonly #relay: string;
  readonly #visitors = new Map<string, (socket: Socket | undefined) => void>();
  #tree: Tree | undefined;
  #control: Duplex | undefined;
  #server: Server | undefined;

  constructor(host: Host, id: string, request: PreviewRequest, trees: Trees) {
    super(host, id, request);
    this.#trees = trees;
    this.#relay = join(host.base, 'w', `relay-${randomUUID().slice(0, 8)}`);
  }

  /** The first source starts the command; later ones are written over the running tree. */
  override async putSource(tar: Readable): Promise<void> {
    if (this.status === 'ended') throw new RunnerError(409, 'invalid_state', 'The preview has ended.');
    if (this.#tree) return this.#trees.patch(this.#tree, tar);
    const tree = await this.#trees.make(this.id, tar);
    if (this.#tree || this.isCancelled) return this.#trees.remove(tree);
    this.#tree = tree;
    void this.run();
  }

  /** A byte pipe to the port. Throws `not_listening` 502. */
  override async connect(): Promise<Socket> {
    const visitor = randomUUID();
    const socket = await new Promise<Socket | undefined>((resolve) => {
      const timer = setTimeout(() => resolve(undefined), DIAL_TIMEOUT_MS);
      this.#visitors.set(visitor, (joined) => { clearTimeout(timer); resolve(joined); });
      if (this.#control?.writable) this.#control.write(`${visitor}\n`); else resolve(undefined);
    });
    this.#visitors.delete(visitor);
    if (!socket) throw new RunnerError(502, 'not_listening', `Nothing listens on port ${this.request.port} in the preview.`);
    return socket;
  }

  override release(): void {
    if (this.#tree) this.#trees.remove(this.#tree);
    rmSync(this.#relay, { recursive: true, force: true });
  }

  protected async spec(): Promise<Omit<SandboxSpec, 'limits'>> {
    mkdirSync(this.#relay, { mode: 0o755 });
    await this.#listen();
    return {
      command: ['/bin/sh', '-c', SCRIPT, 'sh', this.request.command, String(this.request.port)], inputs: 1,
      binds: [this.#tree!.bind(false), { host: this.#relay, inside: RELAY_FOLDER, readOnly: true }],
    };
  }

  protected async work(sandbox: Sandbox): Promise<WorkEnd> {
    this.#control = sandbox.inputs[0] as Duplex;
    let said = '', isListening = false;
    this.#control.setEncoding('latin1').on('data', (part: string) => {
      if (isListening) return;
      said = (said + part).slice(-64);
      if (said.includes('listening\n')) { isListening = true; this.journal.append({ type: 'listening' }); }
    });
    try { return await runCommand(this, sandbox); } finally {
      this.#control = undefined;
      this.#server?.close();
      for (const refuse of this.#visitors.values()) refuse(undefined);
    }
  }

  protected folders(): string[] { return [this.#tree!.folder]; }

  async #listen(): Promise<void> {
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#arrived(socket));
    await new Promise<void>((resolve, reject) => {
      this.#server!.once('error', reject).listen({ path: join(this.#relay, 's'), readableAll: true, writableAll: true }, resolve);
    });
  }

  /** The relay's first line names the visitor that it dialled for; whatever else may connect in there gets nothing. */
  #arrived(socket: Socket): void {
    const timer = setTimeout(() => socket.destroy(), DIAL_TIMEOUT_MS);
    let head = Buffer.alloc(0);
    socket.on('error', () => socket.destroy()).once('close', () => clearTimeout(timer));
    const onData = (part: Buffer): void => {
      head = Buffer.concat([head, part]);
      const end = head.indexOf(0x0a);
      if (end === -1) { if (head.length > 64) socket.destroy(); return; }
      socket.off('data', onData).pause();
      clearTimeout(timer);
      const line = head.toString('latin1', 0, end);
      const answer = this.#visitors.get(line.slice(0, -1));
      if (end + 1 < head.length) socket.unshift(head.subarray(end + 1));
      if (answer && line.endsWith('+')) return answer(socket);
      socket.destroy();
      answer?.(undefined);
    };
    socket.on('data', onData);
  }
}
