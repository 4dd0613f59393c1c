import { lstatSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { RunnerError } from '../errors.ts';
import type { Memory } from '../tasks/conversation.ts';
import { bindingNamed, headOf, type Folder } from './bindings.ts';
import type { CapturedFiles } from './capture.ts';
import { git, GitFault, gitLine } from './git.ts';
import { finishPatch } from './patch.ts';
import type { HostWorkspace } from './protocol.ts';
import { readState, writeDurably } from './state-folder.ts';

/** What is kept of a workspace on disk. */
interface Kept extends HostWorkspace {
  headCommit: string | null;
  /** `making` until its worktree is whole. */
  state: 'making' | 'ready';
  /** Whether the branch was there before. */
  hadBranch: boolean;
  /** The repository of its worktree. */
  repository: string;
  memories: Partial<Record<string, Memory>>;
  /** The highest of its holders. */
  fence?: number;
}

/** The place of a thread on this machine: a bound folder, or a worktree of it. */
export interface Workspace {
  id: string;
  binding: string;
  mode: HostWorkspace['mode'];
  /** The real path of the folder that its agents work in. */
  folder: string;
  /** The task or request that works in it; one at a time. */
  usedBy: string | null;
  captured: CapturedFiles | null;
  memories: Kept['memories'];
}

/** All workspaces of this host by id. */
export class HostWorkspaces {
  readonly #state: string;
  readonly #folders: readonly Folder[];
  readonly #kept = new Map<string, Kept>();
  readonly #open = new Map<string, Workspace>();
  /** The last change of each workspace, and of each repository's worktrees. */
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(state: string, folders: readonly Folder[]) {
    this.#state = state;
    this.#folders = folders;
    for (const name of readdirSync(join(state, 'workspaces'))) {
      if (!name.endsWith('.json')) continue;
      const kept = readState<Kept>(join(state, 'workspaces', name));
      if (kept) this.#kept.set(name.slice(0, -'.json'.length), kept);
    }
  }

  /** Completes restores that a killed program has begun. What cannot be completed is tried again at its next use. */
  recover(): void {
    for (const id of this.ids())
      try {
        this.get(id);
      } catch (error) {
        if (!(error instanceof RunnerError)) process.stderr.write(`${String(error)}\n`);
      }
  }

  ids(): string[] {
    return [...this.#kept].flatMap(([id, { state }]) => (state === 'ready' ? id : []));
  }

  /** Whether it was prepared, and its folder is there. */
  has(id: string): boolean {
    const kept = this.#kept.get(id);
    if (kept?.state !== 'ready') return false;
    if (kept.mode === 'worktree') return isFolder(this.#worktree(id));
    return this.#folders.some(({ name, path }) => name === kept.binding && isFolder(path));
  }

  /** Throws `not_found` 404, `binding_not_found` 404. */
  get(id: string): Workspace {
    const kept = this.#kept.get(id);
    if (kept?.state !== 'ready') throw new RunnerError(404, 'not_found', 'There is no such workspace.');
    const bound = bindingNamed(this.#folders, kept.binding);
    const folder = kept.mode === 'direct' ? bound.path : this.#worktree(id);
    if (!isFolder(folder)) throw new RunnerError(404, 'not_found', 'The folder of the workspace is gone.');
    if (kept.mode === 'worktree') finishPatch(folder, this.#staged(id));
    const open = this.#open.get(id) ?? {
      id,
      binding: kept.binding,
      mode: kept.mode,
      folder,
      usedBy: null,
      captured: null,
      memories: kept.memories,
    };
    this.#open.set(id, open);
    return open;
  }

  /**
   * Records the fence of its holder. Throws `superseded` 409 for a lower one: that worker was taken for dead, and believes
   * that it still holds the workspace.
   */
  admit(id: string, fence: number | undefined): void {
    const kept = this.#kept.get(id);
    if (!kept || fence === undefined) return;
    const { fence: highest = 0 } = kept;
    if (fence < highest)
      throw new RunnerError(409, 'superseded', 'Another worker has taken this workspace over.');
    if (fence > highest) this.#keep(id, { ...kept, fence });
  }

  /** Prepares it, once. Returns the commit that it began with. Throws `binding_not_found` 404, `worktree_failed` 409. */
  put(id: string, wanted: HostWorkspace): Promise<string | null> {
    return this.#inTurn(id, async () => {
      const { path } = bindingNamed(this.#folders, wanted.binding);
      const known = this.#kept.get(id);
      if (known && (known.binding !== wanted.binding || known.mode !== wanted.mode))
        throw new RunnerError(409, 'conflict', 'The workspace is in another folder, or has another mode.');
      if (wanted.mode === 'direct') {
        const headCommit = await topCommit(path);
        if (!known) this.#keep(id, made(wanted, { headCommit, repository: path }));
        return headCommit;
      }
      if (this.has(id)) return known!.headCommit;
      return this.#inTurn(path, () => this.#makeWorktree(id, { ...wanted, repository: path }, known));
    });
  }

  /** Removes a worktree; a bound folder and all branches stay. Idempotent. Nothing may work there. */
  remove(id: string): Promise<void> {
    return this.#inTurn(id, async () => {
      const kept = this.#kept.get(id);
      if (!kept) return;
      if (kept.mode === 'worktree')
        await this.#inTurn(kept.repository, () => this.#dropWorktree(id, kept.repository));
      rmSync(this.#file(id), { force: true });
      this.#kept.delete(id);
      this.#open.delete(id);
    });
  }

  /** Runs `body` while nothing else uses the workspace. Throws `busy` 409. */
  async use<T>(workspace: Workspace, by: string, body: () => Promise<T>): Promise<T> {
    if (workspace.usedBy !== null)
      throw new RunnerError(409, 'busy', 'Something else is working in the workspace.');
    workspace.usedBy = by;
    try {
      return await body();
    } finally {
      workspace.usedBy = null;
    }
  }

  /** Keeps what its agents remember. */
  remember({ id, memories }: Workspace): void {
    const kept = this.#kept.get(id);
    if (kept) this.#keep(id, { ...kept, memories });
  }

  /** Where a change of its worktree is prepared. */
  stagedFor({ id }: Workspace): string {
    return this.#staged(id);
  }

  async #makeWorktree(
    id: string,
    wanted: HostWorkspace & { repository: string },
    before: Kept | undefined,
  ): Promise<string> {
    const { repository, branch } = wanted;
    const folder = this.#worktree(id);
    try {
      await this.#dropWorktree(id, repository);
      // A branch that a killed program has made is as it was made: nobody has worked on it.
      if (before?.state === 'making' && !before.hadBranch)
        await gitLine(repository, ['branch', '--delete', '--force', branch]);
      const had = await gitLine(repository, ['rev-parse', '--verify', '--quiet', `refs/heads/${branch}`]);
      const headCommit = before?.headCommit ?? had ?? (await headOf(repository));
      if (headCommit === null) throw new GitFault('The repository has no commit yet.');
      const facts = { headCommit, repository, hadBranch: had !== undefined };
      this.#keep(id, {
        ...made(wanted, facts),
        state: 'making',
        memories: before?.memories ?? {},
        ...(before?.fence === undefined ? {} : { fence: before.fence }),
      });
      const at = had === undefined ? ['-b', branch, folder, headCommit] : [folder, branch];
      await git(repository, ['worktree', 'add', '--quiet', ...at]);
      this.#keep(id, { ...this.#kept.get(id)!, state: 'ready' });
      return headCommit;
    } catch (error) {
      if (!(error instanceof GitFault)) throw error;
      throw new RunnerError(409, 'worktree_failed', `git made no worktree: ${withoutPaths(error.message)}`);
    }
  }

  async #dropWorktree(id: string, repository: string): Promise<void> {
    const folder = this.#worktree(id);
    rmSync(this.#staged(id), { recursive: true, force: true });
    if (!lstatSync(folder, { throwIfNoEntry: false })) return;
    await gitLine(repository, ['worktree', 'remove', '--force', '--force', folder]);
    rmSync(folder, { recursive: true, force: true });
    await gitLine(repository, ['worktree', 'prune']);
  }

  #keep(id: string, kept: Kept): void {
    writeDurably(this.#file(id), JSON.stringify(kept));
    this.#kept.set(id, kept);
  }

  #file(id: string): string {
    return join(this.#state, 'workspaces', `${id}.json`);
  }
  #worktree(id: string): string {
    return join(realpathSync(join(this.#state, 'worktrees')), id);
  }
  #staged(id: string): string {
    return join(this.#state, 'staged', id);
  }

  #inTurn<T>(key: string, body: () => Promise<T>): Promise<T> {
    const turn = (this.#turns.get(key) ?? Promise.resolve()).then(body);
    const over = Promise.allSettled([turn]);
    this.#turns.set(key, over);
    void over.then(() => this.#turns.get(key) === over && this.#turns.delete(key));
    return turn;
  }
}

const made = (
  { binding, mode, branch }: HostWorkspace,
  facts: { headCommit: string | null; repository: string; hadBranch?: boolean },
): Kept => ({ binding, mode, branch, state: 'ready', hadBranch: false, memories: {}, ...facts });

/** The commit of the repository that the folder is; null for any other folder. */
const topCommit = async (path: string): Promise<string | null> =>
  (await gitLine(path, ['rev-parse', '--show-toplevel'])) === path ? headOf(path) : null;

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** The service learns no path of this machine, also not from git. */
const withoutPaths = (message: string): string => message.replaceAll(/'?\/[^\s']+'?/g, '…').slice(0, 500);
