import { comparePaths, foldPath } from '../trees/paths.ts';
import { findClashes } from './collisions.ts';
import { changesOf } from './merge-trees.ts';
import type { Conflict, Merge, Resolution, Sides } from './types.ts';
import type { Changes, Entry, Tree } from '../trees/tree.ts';

interface Resolved {
  /** From the head to the result; what remains in conflict as in the draft. */
  changes: Changes;
  /** Conflicts without a resolution, and paths that clash because of one. Sorted by path bytes. */
  remaining: Conflict[];
  /**
   * Resolutions that cannot be: `index` is their place in the list. With any of these nothing is resolved.
   */
  faults: { index: number; message: string }[];
}

/**
 * Takes whole sides at conflicting paths: the content of that side's own tree, or nothing. A path that ends
 * in a slash means every conflict below that folder; the exact path has precedence over a folder, the longer
 * folder over the shorter. A taken content can clash with one that had merged cleanly: that path is then in
 * conflict too, and may be resolved in the same list.
 */
export function resolveMerge(merge: Merge, sides: Sides, resolutions: Resolution[]): Resolved {
  const takes = new Map(resolutions.map((r) => [r.path, r.take]));
  const conflicts = new Set(merge.conflicts.map((c) => c.path));
  const taken = new Map<string, 'head' | 'draft'>();
  const merged = new Map(merge.changes);
  const at = (path: string): Entry | undefined => {
    const take = taken.get(path);
    if (take) return sides[take].get(path);
    return merged.has(path) ? (merged.get(path) ?? undefined) : sides.head.get(path);
  };
  const takeAt = (path: string): void => {
    const take = takeFor(path, takes);
    if (take) taken.set(path, take);
  };
  for (const path of conflicts) takeAt(path);
  const open = merge.conflicts.filter((c) => !taken.has(c.path));
  const unresolved = new Set(open.map((c) => c.path));
  const clashesNow = (): Set<string> =>
    findClashes(merge.touched.filter((path) => at(path) && !unresolved.has(path)));
  let clashes = clashesNow();
  while (!clashes.isSubsetOf(conflicts)) {
    for (const path of clashes.difference(conflicts)) {
      conflicts.add(path);
      takeAt(path);
    }
    clashes = clashesNow();
  }
  const faults = faultsOf(conflicts, resolutions);
  if (faults.length > 0) return { changes: merge.changes, remaining: merge.conflicts, faults };
  const remaining = [...open, ...[...clashes].map((path) => clashOf(path, sides))].sort((a, b) =>
    comparePaths(a.path, b.path),
  );
  return { changes: changesOf(sides.head, merge.touched, at), remaining, faults };
}

function takeFor(path: string, takes: Map<string, 'head' | 'draft'>): 'head' | 'draft' | undefined {
  const exact = takes.get(path);
  if (exact) return exact;
  for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
    const take = takes.get(path.slice(0, slash + 1));
    if (take) return take;
  }
  return undefined;
}

function clashOf(path: string, { base, head, draft }: Sides): Conflict {
  const sha = (tree: Tree): string | null => tree.get(path)?.sha256 ?? null;
  return { path, kind: 'path', base: sha(base), head: sha(head), draft: sha(draft) };
}

function faultsOf(conflicts: Set<string>, resolutions: Resolution[]): { index: number; message: string }[] {
  const known = new Set<string>();
  for (const path of conflicts) {
    known.add(path);
    for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1))
      known.add(path.slice(0, slash + 1));
  }
  const folded = new Set([...known].map(foldPath));
  const seen = new Set<string>();
  return resolutions.flatMap(({ path }, index) => {
    if (seen.has(path)) return [{ index, message: 'is resolved twice' }];
    seen.add(path);
    if (known.has(path)) return [];
    return [
      {
        index,
        message: folded.has(foldPath(path)) ? 'is in conflict under another spelling' : 'is not in conflict',
      },
    ];
  });
}
