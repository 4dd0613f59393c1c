import type { Readable } from 'node:stream';
import { RunnerError } from '../errors.ts';
import type { Origin, SetupRequest } from '../protocol.ts';
import { diskUsage } from '../sandbox/disk-usage.ts';
import type { Sandbox } from '../sandbox/driver.ts';
import type { Host } from '../sandbox/host.ts';
import type { Overrun } from '../sandbox/watchdog.ts';
import type { Tree } from '../workspaces/tree.ts';
import type { Trees } from '../workspaces/trees.ts';
import { runCommand } from './commands.ts';
import { Task, TaskFailure, type TaskErrorCode, type TaskSpec, type WorkEnd } from './task.ts';

/** A command on the files that it was given alone. What it leaves beside them is kept as a layer. */
export class SetupTask extends Task {
  declare readonly request: SetupRequest;
  readonly #trees: Trees;
  readonly #stop = new AbortController();
  #made: { tree: Tree; given: string[] } | undefined;

  constructor(host: Host, id: string, request: SetupRequest, trees: Trees) {
    super(host, id, request);
    this.#trees = trees;
  }

  override async putSource(tar?: Readable, origin: Origin = {}): Promise<void> {
    if (!tar || Object.values(origin).some((given) => given !== undefined))
      throw new RunnerError(400, 'invalid_request', 'A setup takes a plain tar.');
    if (this.status !== 'preparing')
      throw new RunnerError(409, 'invalid_state', 'The setup has its files already.');
    const made = await this.#trees.makeScratch(this.id, tar);
    // Another sender's files may have come first, and the setup may be over.
    if (this.status !== 'preparing') return this.#trees.remove(made.tree);
    this.#made = made;
    void this.run();
  }

  override cancel(): Promise<void> {
    this.#stop.abort();
    return super.cancel();
  }

  override release(): void {
    if (this.#made) this.#trees.remove(this.#made.tree);
    this.#made = undefined;
  }

  protected async spec(): Promise<TaskSpec> {
    return {
      command: ['/bin/sh', '-c', this.request.command],
      binds: [this.#made!.tree.bind({ readOnly: false })],
    };
  }

  protected work(sandbox: Sandbox): Promise<WorkEnd> {
    return runCommand(this, sandbox);
  }

  protected writtenTrees(): Tree[] {
    return [this.#made!.tree];
  }

  protected override codeOf({ of }: Overrun): TaskErrorCode {
    return of === 'disk' ? 'layer_too_large' : 'sandbox_lost';
  }

  protected override async afterwards(end: WorkEnd): Promise<WorkEnd> {
    try {
      if (end.outcome !== 'completed') return end;
      if (end.exitCode === 0) return { ...end, layer: { byteSize: await this.#keep() } };
      if (end.exitCode !== null) await this.#requireDisk();
      return end;
    } finally {
      // A layer has the folder from here on; nobody reads the files of a setup that made none.
      this.release();
    }
  }

  /** Makes the layer; returns its size. Throws TaskFailure. */
  async #keep(): Promise<number> {
    const made = this.#made!;
    const key = { key: this.id, group: this.request.group };
    try {
      const byteSize = await this.#trees.keepLayer(key, made, this.#stop.signal);
      this.#made = undefined;
      return byteSize;
    } catch (error) {
      const { code, message } =
        error instanceof RunnerError ? error : { code: '', message: 'The layer could not be made.' };
      throw new TaskFailure(code === 'layer_too_large' ? code : 'sandbox_lost', message);
    }
  }

  /** Throws TaskFailure where a command has failed on a full disk: the kernel ends a file at that size itself. */
  async #requireDisk(): Promise<void> {
    const usage = await diskUsage(this.host, [this.#made!.tree.folder], ['-skx']);
    const { diskBytes } = this.limits;
    if ([...usage.values()].every((kibibytes) => kibibytes * 1024 < diskBytes)) return;
    throw new TaskFailure(
      'layer_too_large',
      `The setup took its ${Math.round(diskBytes / 1024 ** 2)} MiB of disk.`,
    );
  }
}
