import { statfsSync } from 'node:fs';
import { memoryLoad } from '../sandbox/memory-load.ts';
import type { SourceTree } from './tree-cache.ts';

/** The folder that installers write, at the top of a workspace. */
export const DEPENDENCIES = 'node_modules';

/** Whether a source has a dependency folder already, or anything else at its path. */
export const hasDependencies = ({ listing }: SourceTree): boolean =>
  listing.childrenOf('').some(({ path }) => path === DEPENDENCIES);

/**
 * An installed dependency folder, as the layer `<folder>/node_modules` of workspaces of one project. Never
 * written again.
 */
export interface Dependencies {
  /** The project that it is of: no other is given it. */
  group: string;
  /** SHA-256 of the lock file that it was installed by. */
  lock: string;
  folder: string;
  byteSize: number;
  /** Workspaces that lie over it; a folder in use is never removed. */
  users: number;
}

/**
 * `folderBytes`: the most that one may take. `lowMemory`: the share of the machine's memory below which
 * none is kept that nobody uses.
 */
interface DependencyLimits {
  folders: number;
  bytes: number;
  folderBytes: number;
  lowMemory: number;
}

const GIBI = 1024 ** 3;

/** Two gibibytes, or an eighth of the file system where that is less; it lies in memory on most machines. */
export function dependencyLimits(folder: string): DependencyLimits {
  const { blocks, bsize } = statfsSync(folder);
  const bytes = Math.min(2 * GIBI, (blocks * bsize) / 8);
  return { folders: 32, bytes, folderBytes: bytes / 2, lowMemory: 0.1 };
}

/**
 * The dependency folders that this runner keeps, which go with it: so they belong to one version of Node
 * and one architecture. Beyond its limits those go that have been unused for longest.
 */
export class DependencyCache {
  readonly limits: DependencyLimits;
  readonly #remove: (folder: string) => void;
  /** The least recently used first. */
  readonly #kept = new Map<string, Dependencies>();

  /** `remove` takes a folder away that nobody uses. */
  constructor(limits: DependencyLimits, remove: (folder: string) => void) {
    this.limits = limits;
    this.#remove = remove;
  }

  has(group: string, lock: string): boolean {
    return this.#kept.has(keyOf({ group, lock }));
  }

  /** The first that there is for one of these locks, taken for use: `release` gives it back. */
  take(group: string, locks: string[]): Dependencies | undefined {
    const key = locks.map((lock) => keyOf({ group, lock })).find((one) => this.#kept.has(one));
    if (key === undefined) return undefined;
    const found = this.#kept.get(key)!;
    this.#kept.delete(key);
    this.#kept.set(key, found);
    found.users++;
    return found;
  }

  /** Whether so many bytes have room beside what is in use; makes that room. */
  admits(byteSize: number): boolean {
    if (byteSize > this.limits.folderBytes || this.#isShort()) return false;
    const used = [...this.#kept.values()].filter(({ users }) => users > 0);
    if (used.length >= this.limits.folders || sizeOf(used) + byteSize > this.limits.bytes) return false;
    this.#trim(1, byteSize);
    return true;
  }

  /**
   * Takes it in, for use at once; one of its key that another thread took in meanwhile goes when it is no
   * longer used.
   */
  add(dependencies: Omit<Dependencies, 'users'>): Dependencies {
    const added = { ...dependencies, users: 1 };
    const rival = this.#kept.get(keyOf(added));
    if (rival?.users === 0) this.#remove(rival.folder);
    this.#kept.set(keyOf(added), added);
    return added;
  }

  release(dependencies: Dependencies): void {
    dependencies.users--;
    if (dependencies.users === 0 && this.#kept.get(keyOf(dependencies)) !== dependencies)
      this.#remove(dependencies.folder);
    else this.#trim();
  }

  groups(): string[] {
    return [...this.#kept.values()].map(({ group }) => group);
  }

  /** Gives up all of a project, those in use when they no longer are. */
  forget(group: string): void {
    for (const [key, one] of this.#kept) {
      if (one.group !== group) continue;
      this.#kept.delete(key);
      if (one.users === 0) this.#remove(one.folder);
    }
  }

  /** Gives up all that nobody uses. */
  clear(): void {
    for (const [key, one] of this.#kept) {
      if (one.users > 0) continue;
      this.#kept.delete(key);
      this.#remove(one.folder);
    }
  }

  /** Makes room for so many folders and bytes more. */
  #trim(folders = 0, bytes = 0): void {
    for (const [key, one] of this.#kept) {
      const isOver =
        this.#kept.size + folders > this.limits.folders ||
        sizeOf(this.#kept.values()) + bytes > this.limits.bytes ||
        this.#isShort();
      if (!isOver) return;
      if (one.users > 0) continue;
      this.#kept.delete(key);
      this.#remove(one.folder);
    }
  }

  #isShort(): boolean {
    const { freeBytes, memoryBytes } = memoryLoad();
    return freeBytes < memoryBytes * this.limits.lowMemory;
  }
}

const keyOf = ({ group, lock }: Pick<Dependencies, 'group' | 'lock'>): string => `${group} ${lock}`;
const sizeOf = (kept: Iterable<Dependencies>): number =>
  [...kept].reduce((sum, { byteSize }) => sum + byteSize, 0);
