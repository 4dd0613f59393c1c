import type { Difference, GitAnswer } from './compare.ts';
import type { ReplayTrees } from './trees.ts';
import type { Merge, Sides } from '../../../packages/server/src/merge/types.ts';

/**
 * The paths that Headrace names in addition to git's. Git's stages identify the file in conflict by its base
 * contents: where that is a file of another name, its old name has to be named too, if a side still has it.
 * Nothing else may be named that no message of git's names.
 */
export function compareNames(
  merge: Merge,
  expected: GitAnswer,
  { trees, sides }: { trees: Pick<ReplayTrees, 'oidOf'>; sides: Sides },
): Difference[] {
  const named = new Set(merge.conflicts.map((c) => c.path));
  const oldNames = oldNamesOf(expected, trees, sides);
  const told = expected.messages.filter((m) => m.type.startsWith('CONFLICT')).flatMap((m) => m.paths);
  // The old name of a moved file whose new name is in conflict by itself shows in that it was merged.
  const merged = expected.messages.filter((m) => m.type === 'Auto-merging').flatMap((m) => m.paths);
  const reasonable = new Set([
    ...told,
    ...merged,
    ...expected.stages.keys(),
    ...[...oldNames.values()].flat(),
  ]);
  const isReasonable = (path: string): boolean =>
    reasonable.has(path) || told.some((folder) => path.startsWith(`${folder}/`));
  const unreasonable = merge.conflicts.filter((c) => c.kind === 'rename' && !isReasonable(c.path));
  // Of several files of one content it is not known which one moved.
  const known = [...oldNames]
    .filter(([, old]) => old.length === 1)
    .map(([path, [old]]) => ({ path, old: old! }));
  const unnamed = known.filter(({ old }) => !named.has(old) && (sides.head.has(old) || sides.draft.has(old)));
  return [
    ...unreasonable.map((c): Difference => ({
      path: c.path,
      what: 'conflict without reason',
      git: 'no other name of a file in conflict',
      headrace: c.kind,
    })),
    ...unnamed.map(({ path, old }): Difference => ({
      path: old,
      what: 'unnamed conflict',
      git: `the old name of ${path}`,
      headrace: 'not named',
    })),
  ];
}

/**
 * By path in conflict, the names in the base of the file that git merged there, where it is not the base's
 * file of that path.
 */
function oldNamesOf(
  { stages }: GitAnswer,
  trees: Pick<ReplayTrees, 'oidOf'>,
  { base }: Sides,
): Map<string, string[]> {
  const names = new Map<string, string[]>();
  const moved = [...stages].filter(
    ([path, s]) => s[1] && trees.oidOf(base.get(path)?.sha256 ?? '') !== s[1].oid,
  );
  if (moved.length === 0) return names;
  const byOid = Map.groupBy(base.keys(), (path) => trees.oidOf(base.get(path)!.sha256));
  for (const [path, s] of moved) names.set(path, byOid.get(s[1]!.oid) ?? []);
  return names;
}
