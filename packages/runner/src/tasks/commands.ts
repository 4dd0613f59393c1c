import type { Readable } from 'node:stream';
import { RunnerError } from '../errors.ts';
import type { BuildRequest, ExecRequest, Origin } from '../protocol.ts';
import { readOutput } from '../capture/build-output.ts';
import type { Sandbox } from '../sandbox/driver.ts';
import type { Host } from '../sandbox/host.ts';
import type { Workspace } from '../workspaces/workspaces.ts';
import type { Tree } from '../workspaces/tree.ts';
import type { Trees } from '../workspaces/trees.ts';
import { journalOutput } from './output.ts';
import { Task, type TaskSpec, type WorkEnd } from './task.ts';

/**
 * Waits for a command to exit; its output goes to the journal. Its background processes die with the sandbox.
 */
export async function runCommand(task: Task, sandbox: Sandbox, stdin = ''): Promise<WorkEnd> {
  const written = journalOutput(task.journal, task.mask, sandbox);
  sandbox.stdin.end(stdin);
  const exit = await sandbox.exited;
  await written;
  return { outcome: 'completed', exitCode: exit.code, signal: exit.signal, error: null };
}

/** A command in a workspace. */
export class ExecTask extends Task {
  declare readonly request: ExecRequest;
  readonly #workspace: Workspace;

  constructor(host: Host, id: string, request: ExecRequest, workspace: Workspace) {
    super(host, id, request, request.isOfTurn ? workspace.secrets : []);
    this.#workspace = workspace;
  }

  protected async spec(): Promise<TaskSpec> {
    return {
      command: ['/bin/sh', '-c', this.request.command],
      binds: [this.#workspace.tree.bind({ readOnly: false })],
    };
  }

  protected work(sandbox: Sandbox): Promise<WorkEnd> {
    return runCommand(this, sandbox, this.request.stdin);
  }
  protected writtenTrees(): Tree[] {
    return [this.#workspace.tree];
  }
}

/**
 * A command on a separate copy of a source, whose output folder can be read after its end. Starts when the
 * source has arrived.
 */
export class BuildTask extends Task {
  declare readonly request: BuildRequest;
  readonly #trees: Trees;
  #tree: Tree | undefined;

  constructor(host: Host, id: string, request: BuildRequest, trees: Trees) {
    super(host, id, request);
    this.#trees = trees;
  }

  override async putSource(tar?: Readable, origin: Origin = {}): Promise<void> {
    if (this.status !== 'preparing')
      throw new RunnerError(409, 'invalid_state', 'The build has its source already.');
    const tree = await this.#trees.make(this.id, tar, origin);
    // Another sender's source may have come first.
    if (this.status !== 'preparing') return this.#trees.remove(tree);
    this.#tree = tree;
    void this.run();
  }

  /** The output folder as a tar with all its entries. Throws `output_missing` 404, `output_invalid` 409. */
  override async output(): Promise<Readable> {
    if (this.status !== 'ended' || !this.#tree)
      throw new RunnerError(409, 'invalid_state', 'The build has not ended.');
    await this.ended;
    return readOutput(this.host, this.#tree, this.request.outputDirectory).catch((error: unknown) => {
      // It may name files.
      if (!(error instanceof RunnerError)) throw error;
      throw new RunnerError(error.status, error.code, this.mask.text(error.message));
    });
  }

  override release(): void {
    if (this.#tree) this.#trees.remove(this.#tree);
  }

  protected async spec(): Promise<TaskSpec> {
    return {
      command: ['/bin/sh', '-c', this.request.command],
      binds: [this.#tree!.bind({ readOnly: false })],
    };
  }

  protected work(sandbox: Sandbox): Promise<WorkEnd> {
    return runCommand(this, sandbox);
  }
  protected writtenTrees(): Tree[] {
    return [this.#tree!];
  }
}
