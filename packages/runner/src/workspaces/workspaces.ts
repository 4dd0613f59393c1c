import type { Readable } from 'node:stream';
import { RunnerError } from '../errors.ts';
import type { Origin, WorkspaceSize } from '../protocol.ts';
import { diskUsage } from '../sandbox/disk-usage.ts';
import type { Host } from '../sandbox/host.ts';
import type { TarEntry } from '../tar.ts';
import type { Tree } from './tree.ts';
import type { Trees } from './trees.ts';

/** What one agent keeps between its turns in a workspace. */
export interface AgentHome {
  tree: Tree;
  /** The session to resume, where there is one. */
  sessionId: string | null;
  /** Whether the last turn of that session did not complete. */
  wasInterrupted: boolean;
  /** Whether it holds instructions or skills of a turn's context. */
  holdsContext: boolean;
}

/** What the last capture found at a path, if it is part of the source. */
export interface CapturedFiles {
  get(path: string): TarEntry | undefined;
  /** Contents that are in memory still. */
  contents: ReadonlyMap<string, Buffer>;
}

/**
 * A thread's workspace: its tree, its current user, what the last capture saw, and its agents' homes by name.
 */
export interface Workspace {
  id: string;
  tree: Tree;
  /** The task or request that works in it; one at a time. */
  usedBy: string | null;
  /** A token of its own while the task that works in it is paused: then it may be read, and nothing else. */
  still: symbol | null;
  /** Dropped as soon as anything may have changed the files. */
  captured: CapturedFiles | null;
  /** Paths written as evidence for a turn; capture skips them without a warning. */
  evidence: string[];
  homes: Map<string, AgentHome>;
  /** Secrets of its last turn, until another command works in it. */
  secrets: string[];
  /** When something worked in it last, on this process's monotonic clock. */
  usedAt: number;
  /** What it took when it was measured last, after its last use; null where that is to be done. */
  bytes: number | null;
}

/** Workspaces whose last holder is remembered, existing or not; a holder from before that is not refused. */
const REMEMBERED = 10_000;

/** What only reads a workspace. */
const READS: ReadonlySet<string> = new Set(['capture', 'blobs']);

/** All workspaces of this runner by id. */
export class Workspaces {
  readonly trees: Trees;
  readonly #host: Host;
  readonly #byId = new Map<string, Workspace>();

  readonly #fences = new Map<string, number>();

  constructor(host: Host, trees: Trees) {
    this.#host = host;
    this.trees = trees;
  }

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  ids(): string[] {
    return [...this.#byId.keys()];
  }

  /** Throws `not_found` 404. */
  get(id: string): Workspace {
    const workspace = this.#byId.get(id);
    if (!workspace) throw new RunnerError(404, 'not_found', 'There is no such workspace.');
    return workspace;
  }

  /**
   * Records the fence of a workspace's holder. Throws `superseded` 409 for a lower one: that worker was
   * suspended and believes that it still holds the workspace.
   */
  admit(id: string, fence: number | undefined): void {
    if (fence === undefined) return;
    if (fence < (this.#fences.get(id) ?? 0))
      throw new RunnerError(409, 'superseded', 'Another worker has taken this workspace over.');
    this.#fences.delete(id);
    this.#fences.set(id, fence);
    if (this.#fences.size > REMEMBERED) this.#fences.delete(this.#fences.keys().next().value!);
  }

  /**
   * Makes or replaces it: a fresh tree is filled, then swapped in. Throws `busy` 409, as Trees.make does, and
   * as `admit` does, also when it was superseded while its archive arrived.
   */
  async put(id: string, tar?: Readable, origin: Origin = {}, fence?: number): Promise<void> {
    this.admit(id, fence);
    const make = async (): Promise<Tree> => {
      const tree = await this.trees.make(id, tar, origin);
      try {
        this.admit(id, fence);
      } catch (error) {
        this.trees.remove(tree);
        throw error;
      }
      return tree;
    };
    const old = this.#byId.get(id);
    if (old)
      return this.use(old, 'put', async () => {
        const tree = await make();
        this.trees.remove(old.tree);
        this.#removeHomes(old);
        old.tree = tree;
        Object.assign(old, { evidence: evidenceOf(tree), secrets: [], ...fresh() });
      });
    const tree = await make();
    if (this.#byId.has(id)) {
      this.trees.remove(tree);
      throw busy();
    }
    this.#byId.set(id, {
      id,
      tree,
      usedBy: null,
      still: null,
      captured: null,
      evidence: evidenceOf(tree),
      homes: new Map(),
      secrets: [],
      ...fresh(),
    });
  }

  /**
   * Runs `work` while nothing else uses the workspace; reads also while the task that uses it is paused. Throws
   * `busy` 409.
   */
  async use<T>(workspace: Workspace, by: string, work: () => Promise<T>): Promise<T> {
    if (workspace.still && READS.has(by)) return work();
    this.claim(workspace, by);
    try {
      return await work();
    } finally {
      this.release(workspace, by);
    }
  }

  /** Throws `busy` 409 when it is in use. From here on the last capture is out of date. */
  claim(workspace: Workspace, by: string): void {
    if (workspace.usedBy !== null) throw busy();
    workspace.usedBy = by;
    workspace.still = null;
    Object.assign(workspace, fresh());
    if (by !== 'blobs') workspace.captured = null;
  }

  release(workspace: Workspace, by: string): void {
    if (workspace.usedBy !== by) return;
    workspace.usedBy = null;
    workspace.still = null;
    Object.assign(workspace, fresh());
  }

  /** What each takes with its agents' homes. Only those are measured that were used since the last time. */
  async sizes(): Promise<WorkspaceSize[]> {
    const all = [...this.#byId.values()];
    const changed = all
      .filter(({ bytes, usedBy }) => bytes === null || usedBy !== null)
      .map((workspace) => ({ workspace, usedAt: workspace.usedAt }));
    const usage = changed.length
      ? await diskUsage(
          this.#host,
          changed.flatMap(({ workspace }) => foldersOf(workspace)),
          ['-skx'],
        )
      : new Map<string, number>();
    for (const { workspace, usedAt } of changed) {
      // Another use meanwhile is measured the next time.
      if (workspace.usedAt !== usedAt) continue;
      const kibibytes = foldersOf(workspace).reduce((sum, folder) => sum + (usage.get(folder) ?? 0), 0);
      workspace.bytes = kibibytes * 1024;
    }
    const now = performance.now();
    return all.map(({ id, bytes, usedAt }) => ({ id, bytes: bytes ?? 0, idleMs: Math.round(now - usedAt) }));
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

  /** Sessions refer to files that are gone: a new workspace begins without them. */
  #removeHomes({ homes }: Workspace): void {
    for (const { tree } of homes.values()) this.trees.remove(tree);
    homes.clear();
  }
}

const evidenceOf = ({ hasHistory }: Tree): string[] => (hasHistory ? ['.git'] : []);

const fresh = () => ({ usedAt: performance.now(), bytes: null });

const foldersOf = ({ tree, homes }: Workspace): string[] => [
  tree.folder,
  ...[...homes.values()].map((home) => home.tree.folder),
];

const busy = (): RunnerError =>
  new RunnerError(409, 'busy', 'The workspace is in use; wait until its task has ended.');
