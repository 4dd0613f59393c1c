import { comparePaths } from '../trees/paths.ts';
import { sameEntry } from '../trees/tree.ts';
import type { Changes, Entry, Tree } from '../trees/tree.ts';

/**
 * A tree for the way to the worker, in columns: strings and a buffer clone as copies of memory. As objects,
 * 10,000 entries take 25 ms on both sides; this takes 3 and 4 ms.
 */
export interface PackedTree {
  /** Joined by NUL, which no path has. */
  paths: string;
  /** 64 characters each. */
  hashes: string;
  /** Twice the size, plus one when executable. */
  sizes: Float64Array;
}

const HASH = 64;

export function packTree(tree: Tree): PackedTree {
  const sizes = new Float64Array(tree.size);
  const hashes: string[] = [];
  let i = 0;
  for (const { sha256, byteSize, executable } of tree.values()) {
    hashes.push(sha256);
    sizes[i++] = byteSize * 2 + (executable ? 1 : 0);
  }
  return { paths: [...tree.keys()].join('\0'), hashes: hashes.join(''), sizes };
}

export function unpackTree({ paths, hashes, sizes }: PackedTree): Tree {
  const tree = new Map<string, Entry>();
  if (sizes.length === 0) return tree;
  let i = 0;
  for (const path of paths.split('\0')) {
    const size = sizes[i]!;
    tree.set(path, {
      sha256: hashes.slice(i * HASH, i * HASH + HASH),
      byteSize: Math.floor(size / 2),
      executable: size % 2 === 1,
    });
    i++;
  }
  return tree;
}

/** What turns a tree that the worker has into one that it has not. */
export interface TreeDelta {
  changes: Changes;
}

/** Of a delta with more entries than this share of the tree nothing is gained. */
const MAX_DELTA_SHARE = 1 / 8;

/**
 * The way from `near` to `tree`, null when it is long. A draft and its base share most entries: 2 ms for
 * 10,000, in place of 7 in all.
 */
export function deltaTo(tree: Tree, near: Tree): TreeDelta | null {
  const limit = tree.size * MAX_DELTA_SHARE;
  const changes: Changes = [];
  let added = 0;
  for (const [path, entry] of tree) {
    const before = near.get(path);
    if (sameEntry(before, entry)) continue;
    if (!before) added++;
    changes.push([path, entry]);
    if (changes.length > limit) return null;
  }
  if (near.size + added > tree.size)
    for (const path of near.keys()) if (!tree.has(path)) changes.push([path, null]);
  return changes.length > limit ? null : { changes: changes.sort(([a], [b]) => comparePaths(a, b)) };
}
