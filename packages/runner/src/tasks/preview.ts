import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { RunnerError } from '../errors.ts';
import type { Origin, PreviewRequest } from '../protocol.ts';
import { NODE, type Sandbox } from '../sandbox/driver.ts';
import { GUEST } from '../sandbox/guest.ts';
import type { Host } from '../sandbox/host.ts';
import type { Tree } from '../workspaces/tree.ts';
import type { Trees } from '../workspaces/trees.ts';
import { runCommand } from './commands.ts';
import { SOCKETS } from '../sandbox/sockets.ts';
import { Task, type TaskSpec, type WorkEnd } from './task.ts';

const DIAL_TIMEOUT_MS = 10_000;
const CONNECTIONS = 1024;
/** Open at once, half-open ones included. */
const VISITORS = 512;
const NAME = 'visitors';

/** Starts the relay in the background, then the command. */
const SCRIPT = `${NODE} ${GUEST}/relay.cjs ${SOCKETS}/${NAME} "$2" </dev/null >/dev/null 2>&1 &
exec /bin/sh -c "$1"`;

/**
 * A server in its own sandbox. Visitors reach it through a relay inside that dials out to a socket of the
 * runner: the runner itself never opens a path that a sandbox could have replaced.
 */
export class PreviewTask extends Task {
  declare readonly request: PreviewRequest;
  readonly #trees: Trees;
  readonly #visitors = new Map<string, (socket: Socket | undefined) => void>();
  #visiting = 0;
  #tree: Tree | undefined;
  /** Settles when the last source that came is written, or refused. */
  #lastPut: Promise<unknown> = Promise.resolve();
  /**
   * The connection on which the relay learns of visitors: the first one that identifies itself as the relay.
   */
  #control: Socket | undefined;

  constructor(host: Host, id: string, request: PreviewRequest, trees: Trees) {
    super(host, id, request);
    this.#trees = trees;
  }

  /**
   * The first source starts the command; patches are written over the running tree. One is written at a time:
   * the sender of an earlier one may be gone, and its source still under way.
   */
  override putSource(tar?: Readable, origin: Origin = {}): Promise<void> {
    const put = this.#lastPut.then(() => this.#putNext(tar, origin));
    this.#lastPut = put.catch(() => {});
    return put;
  }

  async #putNext(tar: Readable | undefined, origin: Origin): Promise<void> {
    if (this.status === 'ended') throw new RunnerError(409, 'invalid_state', 'The preview has ended.');
    if (this.#tree) {
      // It may be another one than this sender's.
      if (!tar || origin.keep || origin.base !== undefined)
        throw new RunnerError(409, 'invalid_state', 'The preview has its first source already.');
      return this.#trees.patch(this.#tree, tar);
    }
    const tree = await this.#trees.make(this.id, tar, origin);
    if (this.isCancelled) return this.#trees.remove(tree);
    this.#tree = tree;
    void this.run();
  }

  /** A byte pipe to the port. Throws `not_listening` 502, `too_many_visitors` 429. */
  override async connect(): Promise<Socket> {
    if (this.#visiting >= VISITORS)
      throw new RunnerError(429, 'too_many_visitors', 'The preview has too many open connections.');
    this.#visiting++;
    try {
      return (await this.#dial()).once('close', () => this.#visiting--);
    } catch (error) {
      this.#visiting--;
      throw error;
    }
  }

  async #dial(): Promise<Socket> {
    const visitor = randomUUID();
    const socket = await new Promise<Socket | undefined>((resolve) => {
      const timer = setTimeout(() => resolve(undefined), DIAL_TIMEOUT_MS);
      this.#visitors.set(visitor, (joined) => {
        clearTimeout(timer);
        resolve(joined);
      });
      if (this.#control?.writable) this.#control.write(`${visitor}\n`);
      else resolve(undefined);
    });
    this.#visitors.delete(visitor);
    if (!socket)
      throw new RunnerError(
        502,
        'not_listening',
        `Nothing listens on port ${this.request.port} in the preview.`,
      );
    return socket;
  }

  override release(): void {
    if (this.#tree) this.#trees.remove(this.#tree);
  }

  protected async spec(): Promise<TaskSpec> {
    await this.sockets.listen(NAME, CONNECTIONS, (socket) => this.#arrived(socket));
    return {
      command: ['/bin/sh', '-c', SCRIPT, 'sh', this.request.command, String(this.request.port)],
      binds: [this.#tree!.bind({ readOnly: false })],
    };
  }

  protected async work(sandbox: Sandbox): Promise<WorkEnd> {
    try {
      return await runCommand(this, sandbox);
    } finally {
      this.#control = undefined;
      for (const refuse of this.#visitors.values()) refuse(undefined);
    }
  }

  protected writtenTrees(): Tree[] {
    return [this.#tree!];
  }

  /**
   * The relay's first line identifies it, or names the visitor that it dialled for; any other connection gets
   * nothing.
   */
  #arrived(socket: Socket): void {
    const timer = setTimeout(() => socket.destroy(), DIAL_TIMEOUT_MS);
    let head = Buffer.alloc(0);
    socket.once('close', () => clearTimeout(timer));
    const onData = (part: Buffer): void => {
      head = Buffer.concat([head, part]);
      const end = head.indexOf(0x0a);
      if (end === -1) {
        if (head.length > 64) socket.destroy();
        return;
      }
      socket.off('data', onData).pause();
      clearTimeout(timer);
      if (end + 1 < head.length) socket.unshift(head.subarray(end + 1));
      this.#joined(socket, head.toString('latin1', 0, end));
    };
    socket.on('data', onData).resume();
  }

  #joined(socket: Socket, line: string): void {
    if (line === 'relay' && !this.#control) return this.#controlled(socket);
    const answer = this.#visitors.get(line.slice(0, -1));
    if (answer && line.endsWith('+')) return answer(socket);
    socket.destroy();
    answer?.(undefined);
  }

  /** The relay reports one thing: that something listens. */
  #controlled(socket: Socket): void {
    this.#control = socket;
    socket
      .once('data', () => {
        this.journal.append({ type: 'listening' });
      })
      .resume();
  }
}
