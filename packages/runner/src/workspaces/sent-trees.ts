import { TreeCache, type CacheLimits, type SourceTree } from './tree-cache.ts';

/**
 * Trees that are sent first and used in a further request: until then one is in use, since it would be dropped
 * where all that is kept is in use. At most for a time, in case that request never comes.
 */
export class SentTrees {
  readonly #cache: TreeCache;
  readonly #heldMs: number;
  readonly #held = new Map<string, { tree: SourceTree; timer: NodeJS.Timeout }>();

  constructor(limits: CacheLimits, remove: (folder: string) => void, heldMs: number) {
    this.#cache = new TreeCache(limits, remove);
    this.#heldMs = heldMs;
  }

  /** Adds a tree that was sent, and holds it. */
  add(tree: Omit<SourceTree, 'users'>): void {
    this.#hold(this.#cache.add(tree));
  }

  /** Holds a tree that is here already, as one that was sent; false where it is not. */
  holdKept(key: string): boolean {
    const tree = this.#cache.take(key);
    if (tree) this.#hold(tree);
    return tree !== undefined;
  }

  #hold(tree: SourceTree): void {
    this.letGo(tree.key);
    const timer = setTimeout(() => this.letGo(tree.key), this.#heldMs).unref();
    this.#held.set(tree.key, { tree, timer });
  }

  /** Ends the hold of a tree that was sent. */
  letGo(key: string): void {
    const held = this.#held.get(key);
    if (!held) return;
    this.#held.delete(key);
    clearTimeout(held.timer);
    this.#cache.release(held.tree);
  }

  take(key: string): SourceTree | undefined {
    return this.#cache.take(key);
  }
  release(tree: SourceTree): void {
    this.#cache.release(tree);
  }
  groups(): string[] {
    return this.#cache.groups();
  }
  forget(group: string): void {
    this.#cache.forget(group);
  }
  clear(): void {
    this.#cache.clear();
  }
}
