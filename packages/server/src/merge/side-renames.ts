import { comparePaths } from '../trees/paths.ts';
import { parseDiffAnswer } from './diff-answer.ts';
import type { Git } from './git.ts';
import { writeTree } from './git-trees.ts';
import type { GitFile } from './git-trees.ts';
import { sameEntry } from '../trees/tree.ts';
import type { Entry } from '../trees/tree.ts';
import type { TouchedPath } from './three-way.ts';

const EMPTY = 0;

/**
 * The renames that git's merge sees on one side, new path → old path. Git names only the new path of a
 * conflict; without the old one a resolution could lose what the other side did there. Same hash first (any
 * source), then similar content (only sources that the other side touched too): the order of git's own merge.
 */
export async function sideRenames(
  git: Git,
  {
    touched,
    side,
    fileOf,
    limitMs,
  }: { touched: TouchedPath[]; side: 'head' | 'draft'; fileOf: (entry: Entry) => GitFile; limitMs: number },
): Promise<Map<string, string>> {
  const other = side === 'head' ? 'draft' : 'head';
  const byPath = (a: TouchedPath, b: TouchedPath): number => comparePaths(a.path, b.path);
  const sources = touched.filter((t) => t.base && !t[side]).sort(byPath);
  const targets = touched.filter((t) => !t.base && t[side]).sort(byPath);
  const renames = exactRenames(sources, targets, side);
  const used = new Set(renames.values());
  const from = sources.filter((t) => !used.has(t.path) && !sameEntry(t.base, t[other]));
  const to = targets.filter((t) => !renames.has(t.path));
  if (from.length === 0 || to.length === 0) return renames;
  const tree = (paths: TouchedPath[], which: 'base' | 'head' | 'draft'): string =>
    writeTree(
      git.store,
      paths.map((t) => [t.path, fileOf(t[which]!)]),
      new Map(),
    );
  for (const found of parseDiffAnswer(await git.diffTree(tree(from, 'base'), tree(to, side), limitMs)))
    if (found.oldPath !== undefined) renames.set(found.path, found.oldPath);
  return renames;
}

function exactRenames(
  sources: TouchedPath[],
  targets: TouchedPath[],
  side: 'head' | 'draft',
): Map<string, string> {
  const byHash = Map.groupBy(
    sources.filter((t) => t.base!.byteSize !== EMPTY),
    (t) => t.base!.sha256,
  );
  const renames = new Map<string, string>();
  for (const target of targets) {
    const candidates = byHash.get(target[side]!.sha256);
    if (!candidates?.length) continue;
    const named = candidates.findIndex((t) => baseName(t.path) === baseName(target.path));
    renames.set(target.path, candidates.splice(Math.max(named, 0), 1)[0]!.path);
  }
  return renames;
}

const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
