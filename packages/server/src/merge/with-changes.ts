import { comparePaths } from '../trees/paths.ts';
import type { Changes, Entry, Tree } from '../trees/tree.ts';

/** The tree after these changes. Both are in the order of the path bytes, and so is the result. */
export function withChanges(tree: Tree, changes: Changes): Tree {
  const result = new Map<string, Entry>();
  const added = changes.filter(([path, entry]) => entry && !tree.has(path)) as [string, Entry][];
  const changed = new Map(changes);
  let next = 0;
  for (const [path, entry] of tree) {
    while (next < added.length && comparePaths(added[next]![0], path) < 0) result.set(...added[next++]!);
    const change = changed.get(path);
    if (change !== null) result.set(path, change ?? entry);
  }
  while (next < added.length) result.set(...added[next++]!);
  return result;
}
