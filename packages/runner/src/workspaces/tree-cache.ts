import { statfsSync } from 'node:fs';
import type { SourceListing } from './source-listing.ts';
import type { TreeKey } from '../protocol.ts';

/**
 * The files of one source. Written once, never again mounted for writing: workspaces that lie over it write
 * beside it.
 */
export interface SourceTree extends TreeKey {
  folder: string;
  listing: SourceListing;
  /** Workspaces that lie over it; a tree in use is never removed. */
  users: number;
  /** A layer with the `.git` whose one commit it is, once that was made. */
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
 * a file.
 */
export function defaultLimits(folder: string): CacheLimits {
  const { blocks, bsize } = statfsSync(folder);
  return { trees: 64, files: 200_000, bytes: Math.min(GIBI, (blocks * bsize) / 8) };
}

/** Source trees by their keys; beyond its limits those go that have been unused for longest. */
export class TreeCache {
  readonly #limits: CacheLimits;
  readonly #remove: (folder: string) => void;
  /** The least recently used first. */
  readonly #trees = new Map<string, SourceTree>();

  /** `remove` takes a folder away that nobody uses. */
  constructor(limits: CacheLimits, remove: (folder: string) => void) {
    this.#limits = limits;
    this.#remove = remove;
  }

  /** The tree, taken for use: `release` gives it back. */
  take(key: string): SourceTree | undefined {
    const tree = this.#trees.get(key);
    if (!tree) return undefined;
    this.#trees.delete(key);
    this.#trees.set(key, tree);
    tree.users++;
    return tree;
  }

  /**
   * Takes in a new tree, for use at once. Where another was faster the same is taken, and this one removed.
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

  /** Keys of a project's trees, the last used first. */
  keys(group: string): string[] {
    return [...this.#trees.values()]
      .filter((tree) => tree.group === group)
      .map((tree) => tree.key)
      .toReversed();
  }

  groups(): string[] {
    return [...this.#trees.values()].map(({ group }) => group);
  }

  /** Gives up what nobody uses of a project; what is in use stays, to be asked for again. */
  forget(group: string): void {
    for (const tree of this.#trees.values()) {
      if (tree.group !== group || tree.users > 0) continue;
      this.#drop(tree);
    }
  }

  /** Gives up all that nobody uses. */
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
