import type { Difference, GitAnswer } from './compare.ts';
import type { ReplayGit } from './git.ts';
import type { ReplayTrees } from './trees.ts';
import type { Merge, Sides } from '../../../packages/server/src/merge/types.ts';

interface About {
  git: Pick<ReplayGit, 'run'>;
  trees: Pick<ReplayTrees, 'oidOf'>;
  sides: Sides;
  /** The ids of the trees. */
  ids: [base: string, head: string, draft: string];
}

/**
 * The paths that Headrace names in addition to git's. Git's stages identify the file in conflict by its base
 * contents: where that is a file of another name, its old name has to be named too, if a side still has it.
 * Nothing else may be named that no message of git's names, nor a pairing of files that git makes.
 *
 * Which of several like files moved to a place is arguable: git's merge and git's own diff of the two sides
 * pair them differently. Both are right here; what the files are in the end is compared apart from names.
 */
export async function compareNames(merge: Merge, expected: GitAnswer, about: About): Promise<Difference[]> {
  const { sides } = about;
  const named = new Set(merge.conflicts.map((c) => c.path));
  const oldNames = oldNamesOf(expected, about);
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
  if (unreasonable.length + unnamed.length === 0) return [];
  const pairs = [await pairsOf(about, 'head'), await pairsOf(about, 'draft')];
  const isPaired = (path: string): boolean =>
    [...named].some((other) => isReasonable(other) && pairs.some((p) => p.candidates(other).has(path)));
  return [
    ...unreasonable
      .filter((c) => !isPaired(c.path))
      .map((c): Difference => ({
        path: c.path,
        what: 'conflict without reason',
        git: 'no other name of a file in conflict',
        headrace: c.kind,
      })),
    ...unnamed
      .filter(({ path, old }) => pairs.some((p) => p.renames.get(path) === old))
      .map(({ path, old }): Difference => ({
        path: old,
        what: 'unnamed conflict',
        git: `the old name of ${path}`,
        headrace: 'not named',
      })),
  ];
}

/** What became of the base's files on a side. */
interface Pairs {
  /** New path → old path, by git's diff. */
  renames: ReadonlyMap<string, string>;
  /** The base's files that may be the one that is at `path` now: the one of git's diff, and those like it. */
  candidates(path: string): Set<string>;
}

async function pairsOf({ git, trees, sides, ids }: About, side: 'head' | 'draft'): Promise<Pairs> {
  const args = ['diff-tree', '-r', '-z', '--find-renames', '-l0', '--diff-filter=R', '--name-status'];
  const raw = await git.run([...args, ids[0], ids[side === 'head' ? 1 : 2]]);
  const fields = raw.toString().split('\0');
  const renames = new Map<string, string>();
  for (let at = 0; at + 2 < fields.length; at += 3) renames.set(fields[at + 2]!, fields[at + 1]!);
  const like = Map.groupBy(sides.base.keys(), (path) => trees.oidOf(sides.base.get(path)!.sha256));
  const sameAs = (sha256: string | undefined): string[] =>
    (sha256 === undefined ? undefined : like.get(trees.oidOf(sha256))) ?? [];
  return {
    renames,
    candidates(path) {
      const old = renames.get(path);
      return new Set([
        ...(old === undefined ? [] : [old, ...sameAs(sides.base.get(old)?.sha256)]),
        ...sameAs(sides[side].get(path)?.sha256),
      ]);
    },
  };
}

/**
 * By path in conflict, the names in the base of the file that git merged there, where it is not the base's
 * file of that path.
 */
function oldNamesOf({ stages }: GitAnswer, { trees, sides: { base } }: About): Map<string, string[]> {
  const names = new Map<string, string[]>();
  const moved = [...stages].filter(
    ([path, s]) => s[1] && trees.oidOf(base.get(path)?.sha256 ?? '') !== s[1].oid,
  );
  if (moved.length === 0) return names;
  const byOid = Map.groupBy(base.keys(), (path) => trees.oidOf(base.get(path)!.sha256));
  for (const [path, s] of moved) names.set(path, byOid.get(s[1]!.oid) ?? []);
  return names;
}
