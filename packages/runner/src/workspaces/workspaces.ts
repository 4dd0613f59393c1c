import type { Readable } from 'node:stream';
import { RunnerError } from '../errors.ts';
import type { Origin } from '../protocol.ts';
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
}

/** What the last capture found at a path, if it is part of the source. */
interface CapturedFiles {
  get(path: string): TarEntry | undefined;
}

/**
 * A thread's workspace: its tree, its current user, what the last capture saw, and its agents' homes by name.
 */
export interface Workspace {
  id: string;
  tree: Tree;
  /** The task or request that works in it; one at a time. */
  usedBy: string | null;
  /** Dropped as soon as anything may have changed the files. */
  captured: CapturedFiles | null;
  /** Paths written as evidence for a turn; capture skips them without a warning. */
  evidence: string[];
  homes: Map<string, AgentHome>;
}

/** Workspaces whose last holder is remembered, existing or not; a holder from before that is not refused. */
const REMEMBERED = 10_000;

/** All workspaces of this runner by id. */
export class Workspaces {
  readonly trees: Trees;
  readonly #byId = new Map<string, Workspace>();

  readonly #fences = new Map<string, number>();

  constructor(trees: Trees) {
    this.trees = trees;
  }

  has(id: string): boolean {
    return this.#byId.has(id);
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
        old.evidence = [];
      });
    const tree = await make();
    if (this.#byId.has(id)) {
      this.trees.remove(tree);
      throw busy();
    }
    this.#byId.set(id, { id, tree, usedBy: null, captured: null, evidence: [], homes: new Map() });
  }

  /** Runs `work` while nothing else uses the workspace. Throws `busy` 409. */
  async use<T>(workspace: Workspace, by: string, work: () => Promise<T>): Promise<T> {
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

  /** Sessions refer to files that are gone: a new workspace begins without them. */
  #removeHomes({ homes }: Workspace): void {
    for (const { tree } of homes.values()) this.trees.remove(tree);
    homes.clear();
  }
}

const busy = (): RunnerError =>
  new RunnerError(409, 'busy', 'The workspace is in use; wait until its task has ended.');
