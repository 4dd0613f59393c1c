import { foldPath } from '../trees/paths.ts';

/**
 * The paths that collide: the same under folding, or a file where another path has a folder. All sides of a
 * clash are named. Folders alone may differ in case (`Docs/a`, `docs/b`).
 */
export function findClashes(paths: Iterable<string>): Set<string> {
  const byFold = new Map<string, string[]>();
  const clashes = new Set<string>();
  for (const path of paths) {
    const folded = foldPath(path);
    const same = byFold.get(folded);
    if (!same) byFold.set(folded, [path]);
    else if (!same.includes(path)) for (const p of [path, ...same]) clashes.add(p);
    if (same && !same.includes(path)) same.push(path);
  }
  for (const [folded, same] of byFold) {
    for (const folder of foldersOf(folded)) {
      const files = byFold.get(folder);
      if (files) for (const p of [...files, ...same]) clashes.add(p);
    }
  }
  return clashes;
}

/** `a`, `a/b` for `a/b/c`. */
export function* foldersOf(path: string): Generator<string> {
  for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1))
    yield path.slice(0, slash);
}
