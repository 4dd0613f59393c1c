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
 * written after it is made.
 */
export interface Dependencies {
  /** The only project that may use it. */
  group: string;
  /** SHA-256 of the lock file that it was installed from. */
  lock: string;
  /** The runtime that it was installed in, whose Node and C library it is for. */
  runtime?: string | undefined;
  folder: string;
  byteSize: number;
  /** Workspaces that lie over it; a folder in use is never removed. */
  users: number;
}

/**
 * `folderBytes`: the limit for one folder. `lowMemory`: the share of free memory below which no unused folder
 * is kept.
 */
interface DependencyLimits {
  folders: number;
  bytes: number;
  folderBytes: number;
  lowMemory: number;
}

const GIBI = 1024 ** 3;

/** Two gibibytes, or an eighth of the file system where that is less: on most machines it lies in memory. */
export function dependencyLimits(folder: string): DependencyLimits {
  const { blocks, bsize } = statfsSync(folder);
  const bytes = Math.min(2 * GIBI, (blocks * bsize) / 8);
  return { folders: 32, bytes, folderBytes: bytes / 2, lowMemory: 0.1 };
}

/**
 * The dependency folders that this runner keeps. They vanish with it, so they belong to one version of Node
 * and one architecture. Beyond its limits the least recently used ones are removed.
 */
export class DependencyCache {
  readonly limits: DependencyLimits;
  readonly #remove: (folder: string) => void;
  /** The least recently used first. */
  readonly #kept = new Map<string, Dependencies>();

  /** `remove` deletes a folder that nobody uses. */
  constructor(limits: DependencyLimits, remove: (folder: string) => void) {
    this.limits = limits;
    this.#remove = remove;
  }

  has(key: Key): boolean {
    return this.#kept.has(keyOf(key));
  }

  /** The first kept folder for one of these locks, taken into use: `release` gives it back. */
  take({ locks, ...of }: Omit<Key, 'lock'> & { locks: string[] }): Dependencies | undefined {
    const key = locks.map((lock) => keyOf({ ...of, lock })).find((one) => this.#kept.has(one));
    if (key === undefined) return undefined;
    const found = this.#kept.get(key)!;
    this.#kept.delete(key);
    this.#kept.set(key, found);
    found.users++;
    return found;
  }

  /** Whether that many bytes fit along with the folders in use; makes room for them. */
  admits(byteSize: number): boolean {
    if (byteSize > this.limits.folderBytes || this.#isShort()) return false;
    const used = [...this.#kept.values()].filter(({ users }) => users > 0);
    if (used.length >= this.limits.folders || sizeOf(used) + byteSize > this.limits.bytes) return false;
    this.#trim(1, byteSize);
    return true;
  }

  /**
   * Adds a folder, in use at once. An older folder with the same key, added by another thread, is removed
   * once it is no longer used.
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

  /** Drops everything of a project; folders in use are removed when they are released. */
  forget(group: string): void {
    for (const [key, one] of this.#kept) {
      if (one.group !== group) continue;
      this.#kept.delete(key);
      if (one.users === 0) this.#remove(one.folder);
    }
  }

  /** Drops all folders that nobody uses. */
  clear(): void {
    for (const [key, one] of this.#kept) {
      if (one.users > 0) continue;
      this.#kept.delete(key);
      this.#remove(one.folder);
    }
  }

  /** Makes room for that many more folders and bytes. */
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

type Key = Pick<Dependencies, 'group' | 'lock' | 'runtime'>;
const keyOf = ({ group, lock, runtime = '' }: Key): string => `${group} ${lock} ${runtime}`;
const sizeOf = (kept: Iterable<Dependencies>): number =>
  [...kept].reduce((sum, { byteSize }) => sum + byteSize, 0);
