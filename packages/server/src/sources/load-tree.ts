/** Trees of sources, by id. A source never changes, so a tree that was read once stays right. */
import { setImmediate } from 'node:timers/promises';
import type { Db } from '../db/database.ts';
import type { Tx } from '../db/transaction.ts';
import { notFound } from '../http/errors.ts';
import { sameEntry } from '../trees/tree.ts';
import type { Tree } from '../trees/tree.ts';
import { applyDelta, decodeManifest } from '../trees/manifest.ts';
import { findManifests } from './store.ts';

/** About 200 bytes an entry; versions of one project share most of them. */
const MAX_ENTRIES = 300_000;
/** Their ids go with every query. */
const MAX_TREES = 256;

class TreeCache {
  readonly #trees = new Map<string, Tree>();
  #entries = 0;

  get(id: string): Tree | undefined {
    const tree = this.#trees.get(id);
    if (tree) {
      this.#trees.delete(id);
      this.#trees.set(id, tree);
    }
    return tree;
  }

  set(id: string, tree: Tree): void {
    if (this.#trees.has(id)) return;
    this.#trees.set(id, tree);
    this.#entries += tree.size;
    for (const [oldest, { size }] of this.#trees) {
      if ((this.#entries <= MAX_ENTRIES && this.#trees.size <= MAX_TREES) || oldest === id) break;
      this.#trees.delete(oldest);
      this.#entries -= size;
    }
  }

  snapshot(): Map<string, Tree> {
    return new Map(this.#trees);
  }
}

const cache = new TreeCache();
const loading = new Map<string, Promise<Tree>>();

/**
 * The files of a source, in order of their path bytes; do not change them. The source was loaded, and so
 * authorized, before: an unknown id is 404. Reads at most 50 deltas, and nothing when the tree was used
 * lately.
 */
export async function loadTree(ctx: { db: Db | Tx['db'] }, sourceId: string): Promise<Tree> {
  const known = cache.get(sourceId);
  if (known) return known;
  // A transaction waits for no other reader: that reader's connection may wait for this transaction's locks.
  if (ctx.db.isTransaction) return read(ctx.db, sourceId);
  const rival = loading.get(sourceId);
  if (rival) return rival;
  const mine = read(ctx.db, sourceId).finally(() => loading.delete(sourceId));
  loading.set(sourceId, mine);
  return mine;
}

async function read(db: Db | Tx['db'], sourceId: string): Promise<Tree> {
  const known = cache.snapshot();
  const rows = await findManifests(db, sourceId, [...known.keys()]);
  if (rows.length === 0) throw notFound('source');
  let tree: Tree | undefined;
  for (const { id, manifest, manifest_base: base } of rows) {
    // 50 deltas to 10,000 files are 100 ms in all: others get their turn between them.
    if (tree) await setImmediate();
    // Several threads begin from one source: the base of this delta is wanted again.
    tree =
      base === null
        ? decodeManifest(manifest)
        : applyDelta(tree ?? cache.get(base) ?? known.get(base)!, manifest);
    if (id === sourceId || id === rows.at(-1)!.manifest_base) cache.set(id, tree);
  }
  return tree!;
}

/** Keeps the files of a source that was just stored: it is read next, as a head or a base. */
export function keepTree(sourceId: string, tree: Tree): void {
  cache.set(sourceId, tree);
}

/** Whether both have the same files with the same contents and modes. */
export function sameTree(a: Tree, b: Tree): boolean {
  if (a === b) return true;
  if (a.size !== b.size) return false;
  for (const [path, entry] of a) if (!sameEntry(entry, b.get(path))) return false;
  return true;
}
