import { spawn } from 'node:child_process';
import { chmodSync, renameSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { RunnerError } from './errors.ts';
import type { CapturedFile } from './protocol.ts';
import { collect } from './sandbox/collect.ts';
import { DEFAULT_LIMITS, WORKSPACE, type Bind } from './sandbox/driver.ts';
import { GUEST } from './sandbox/guest.ts';
import { makeSandboxFolder, startSandbox, type Host } from './sandbox/host.ts';

/** A folder of files that sandboxes mount at /workspace. The host itself never opens a path inside it. */
export interface Tree {
  folder: string;
  bind(readOnly: boolean): Bind;
}

/** What one agent keeps over its turns in a workspace. */
export interface AgentHome {
  tree: Tree;
  /** Of the session that it goes on with, where it can. */
  sessionId: string | null;
  /** Whether the last turn of that session did not complete. */
  wasInterrupted: boolean;
}

/** A thread's workspace: its tree, who uses it now, what the last capture saw, and its agents' homes by their names. */
export interface Workspace {
  id: string;
  tree: Tree;
  /** The task or request that works in it; one at a time. */
  usedBy: string | null;
  /** Forgotten as soon as anything may have changed the files. */
  captured: Map<string, CapturedFile> | null;
  /** Paths written as evidence for a turn; capture passes them over in silence. */
  evidence: string[];
  homes: Map<string, AgentHome>;
}

const TRANSFER_TIMEOUT_MS = 120_000;

/** Makes, fills, changes and removes trees. All reading and writing of contents happens inside sandboxes. */
export class Trees {
  readonly #host: Host;
  #counter = 0;

  constructor(host: Host) { this.#host = host; }

  /** A new tree with the files of this tar (regular files). Throws `invalid_tar` 400. */
  async make(name: string, tar?: Readable): Promise<Tree> {
    const folder = makeSandboxFolder(this.#host, `${name}.${++this.#counter}`);
    const bind = (readOnly: boolean): Bind => {
      chmodSync(folder, 0o700); // an agent may have closed it: no sandbox could enter it then
      return { host: folder, inside: WORKSPACE, readOnly };
    };
    const tree: Tree = { folder, bind };
    if (tar === undefined) return tree;
    try {
      // GNU tar, inside: 10,000 files in a third of the time of writes from here, off the event loop, and no path can lead out.
      await this.#feed(tree, ['/bin/sh', '-c', 'umask 022; exec tar -xf - --no-same-owner --delay-directory-restore'], tar);
    } catch (error) { this.remove(tree); throw error; }
    return tree;
  }

  /** Deletes and writes what the tar says (protocol: POST /workspaces/:id/patch). Throws `invalid_tar` 400. */
  async patch(tree: Tree, tar: Readable): Promise<void> {
    await this.#feed(tree, ['node', `${GUEST}/patch-tree.cjs`], tar);
  }

  /** Takes the tree away at once; its files go in the background. No task may live in it. */
  remove(tree: Tree): void {
    const trash = `${tree.folder}.gone`;
    try { renameSync(tree.folder, trash); } catch { return; }
    const rm = spawn('/bin/sh', ['-c', 'rm -rf -- "$1" 2>/dev/null || { chmod -R u+rwx -- "$1"; rm -rf -- "$1"; }', 'sh', trash], { env: {}, cwd: '/', stdio: 'ignore' });
    rm.on('error', () => { /* swept with the runner's folder */ });
  }

  async #feed(tree: Tree, command: string[], tar: Readable): Promise<void> {
    const sandbox = startSandbox(this.#host, { command, binds: [tree.bind(false)], limits: DEFAULT_LIMITS });
    // A body that breaks off must not look like a whole one.
    tar.once('error', () => void sandbox.kill().catch(() => {}));
    tar.pipe(sandbox.stdin);
    const { code, stderr } = await collect(sandbox, { maxBytes: 1024 * 1024, timeoutMs: TRANSFER_TIMEOUT_MS });
    if (tar.errored) throw new RunnerError(400, 'invalid_tar', 'The archive was cut off.');
    if (code !== 0) throw new RunnerError(400, 'invalid_tar', `The archive could not be written: ${stderr.trim().slice(0, 500)}`);
  }
}

/** All workspaces of this runner by id. */
export class Workspaces {
  readonly trees: Trees;
  readonly #byId = new Map<string, Workspace>();

  constructor(trees: Trees) { this.trees = trees; }

  has(id: string): boolean { return this.#byId.has(id); }

  /** Throws `not_found` 404. */
  get(id: string): Workspace {
    const workspace = this.#byId.get(id);
    if (!workspace) throw new RunnerError(404, 'not_found', 'There is no such workspace.');
    return workspace;
  }

  /** Makes or replaces it from a tar of regular files: a fresh tree is filled, then swapped in. Throws `busy` 409. */
  async put(id: string, tar: Readable): Promise<void> {
    const old = this.#byId.get(id);
    if (old) return this.use(old, 'put', async () => {
      const tree = await this.trees.make(id, tar);
      this.trees.remove(old.tree);
      this.#removeHomes(old);
      old.tree = tree;
      old.evidence = [];
    });
    const tree = await this.trees.make(id, tar);
    if (this.#byId.has(id)) { this.trees.remove(tree); throw busy(); }
    this.#byId.set(id, { id, tree, usedBy: null, captured: null, evidence: [], homes: new Map() });
  }

  /** Runs `work` while nothing else uses the workspace. Throws `busy` 409. */
  async use<T>(workspace: Workspace, by: string, work: () => Promise<T>): Promise<T> {
    this.claim(workspace, by);
    try { return await work(); } finally { this.release(workspace, by); }
  }

  /** Throws `busy` 409 when it is in use. What was captured is no longer true from here. */
  claim(workspace: Workspace, by: string): void {
    if (workspace.usedBy !== null) throw busy();
    workspace.usedBy = by;
    if (by !== 'blobs') workspace.captured = null;
  }

  release(workspace: Workspace, by: string): void {
    if (workspace.usedBy === by) workspace.usedBy = null;
  }

  /** Forgets it and its files. Its tasks must have ended. */
  remove(id: string): void {
    const workspace = this.#byId.get(id);
    if (!workspace) return;
    if (workspace.usedBy !== null) throw busy();
    this.#byId.delete(id);
    this.trees.remove(workspace.tree);
    this.#removeHomes(workspace);
  }

  /** Sessions tell of files that are no longer there: a new workspace begins without any. */
  #removeHomes({ homes }: Workspace): void {
    for (const { tree } of homes.values()) this.trees.remove(tree);
    homes.clear();
  }
}

const busy = (): RunnerError => new RunnerError(409, 'busy', 'The workspace is in use; wait until its task has ended.');
