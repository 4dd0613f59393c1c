import { statfsSync } from 'node:fs';
import type { SourceListing } from './source-listing.ts';
import type { TreeKey } from '../protocol.ts';

/**
 * The files of one source, or the `.git` of a commit. Written once and never mounted for writing again: workspaces over it write to
 * their own layers.
 */
export interface SourceTree extends TreeKey {
  folder: string;
  listing: SourceListing;
  /** Workspaces that lie over it; a tree in use is never removed. */
  users: number;
  /** A layer with the `.git` whose one commit is this source, once it is made. */
  git?: { folder: string; byteSize: number };
}

export interface CacheLimits {
  trees: number;
  files: number;
  bytes: number;
}

const GIBI = 1024 ** 3;

/**
 * A gibibyte, or an eighth of the file system where that is less. A listing takes some 300 bytes of memory
 * per file.
 */
export function defaultLimits(folder: string): CacheLimits {
  const { blocks, bsize } = statfsSync(folder);
  return { trees: 64, files: 200_000, bytes: Math.min(GIBI, (blocks * bsize) / 8) };
}

/** Source trees by their keys; beyond its limits the least recently used ones are removed. */
export class TreeCache {
  readonly #limits: CacheLimits;
  readonly #remove: (folder: string) => void;
  /** The least recently used first. */
  readonly #trees = new Map<string, SourceTree>();

  /** `remove` deletes a folder that nobody uses. */
  constructor(limits: CacheLimits, remove: (folder: string) => void) {
    this.#limits = limits;
    this.#remove = remove;
  }

  /** The tree, taken into use: `release` gives it back. */
  take(key: string): SourceTree | undefined {
    const tree = this.#trees.get(key);
    if (!tree) return undefined;
    this.#trees.delete(key);
    this.#trees.set(key, tree);
    tree.users++;
    return tree;
  }

  /**
   * Adds a new tree, in use at once. If another caller was faster, returns that one's tree and removes this
   * one.
   */
  add(tree: Omit<SourceTree, 'users'>): SourceTree {
    const known = this.take(tree.key);
    if (known) {
      this.#remove(tree.folder);
      return known;
    }
    this.#trees.set(tree.key, { ...tree, users: 0 });
    const taken = this.take(tree.key)!;
    this.#trim();
    return taken;
  }

  release(tree: SourceTree): void {
    tree.users--;
    this.#trim();
  }

  /** Keys of a project's trees, the most recently used first. */
  keys(group: string): string[] {
    return [...this.#trees.values()]
      .filter((tree) => tree.group === group)
      .map((tree) => tree.key)
      .toReversed();
  }

  groups(): string[] {
    return [...this.#trees.values()].map(({ group }) => group);
  }

  /** Drops a project's unused trees; those in use stay, and the caller has to ask again. */
  forget(group: string): void {
    for (const tree of this.#trees.values()) {
      if (tree.group !== group || tree.users > 0) continue;
      this.#drop(tree);
    }
  }

  /** Drops all trees that nobody uses. */
  clear(): void {
    for (const tree of this.#trees.values()) if (tree.users === 0) this.#drop(tree);
  }

  #trim(): void {
    let { trees, files, bytes } = this.#limits;
    for (const tree of this.#trees.values()) {
      trees--;
      files -= tree.listing.entries.length;
      bytes -= bytesOf(tree);
    }
    for (const tree of this.#trees.values()) {
      if (trees >= 0 && files >= 0 && bytes >= 0) return;
      if (tree.users > 0) continue;
      trees++;
      files += tree.listing.entries.length;
      bytes += bytesOf(tree);
      this.#drop(tree);
    }
  }

  #drop(tree: SourceTree): void {
    this.#trees.delete(tree.key);
    this.#remove(tree.folder);
    if (tree.git) this.#remove(tree.git.folder);
  }
}

const bytesOf = ({ listing, git }: SourceTree): number => listing.byteSize + (git?.byteSize ?? 0);
