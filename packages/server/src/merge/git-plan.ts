import { foldersOf } from './collisions.ts';
import { sameEntry } from '../trees/tree.ts';
import type { Sides } from './types.ts';
import type { Tree } from '../trees/tree.ts';
import type { TouchedPath } from './three-way.ts';

/** The part of a merge that git needs to decide as it would with the whole trees. */
export interface GitPlan {
  /**
   * Contents that git may read: both-changed files and what may be a rename. The other files are there by
   * name only.
   */
  contents: Set<string>;
  /**
   * A folder may have been renamed: git also looks for untouched files in the way, so the trees have to be
   * whole.
   */
  whole: boolean;
  /** Folders that would look deleted on a side without their untouched files: they get a placeholder. */
  kept: Set<string>;
  /**
   * Where nothing can be a rename, git is shown these paths only, side by side under their numbers: the
   * trees of folders, on three sides and in the result, would be most of the files that are written for a
   * merge.
   */
  alone: TouchedPath[] | undefined;
}

type Side = 'head' | 'draft';

/** Undefined where paths and hashes alone decide just as git would. */
export function planGit(sides: Sides, touched: TouchedPath[], contested: TouchedPath[]): GitPlan | undefined {
  const deleted = {
    head: touched.filter((t) => t.base && !t.head),
    draft: touched.filter((t) => t.base && !t.draft),
  };
  const added = {
    head: touched.filter((t) => !t.base && t.head),
    draft: touched.filter((t) => !t.base && t.draft),
  };
  const whole =
    movedFolders('head', sides, deleted, added).size > 0 ||
    movedFolders('draft', sides, deleted, added).size > 0;
  const goneTwice = deleted.head.some((t) => !t.draft);
  const renames = goneTwice && added.head.length + added.draft.length > 0;
  if (contested.length === 0 && !whole && !renames) return undefined;

  const contents = new Set<string>();
  const need = (entry: { sha256: string } | undefined): void => {
    if (entry) contents.add(entry.sha256);
  };
  for (const t of contested) for (const side of [t.base, t.head, t.draft]) need(side);
  for (const [side, other] of [
    ['head', 'draft'],
    ['draft', 'head'],
  ] as const) {
    if (added[side].length === 0) continue;
    // Git compares contents only for a source that the other side edited or deleted too, or that shows where
    // a folder went.
    const sources = deleted[side].filter((t) => whole || !sameEntry(t.base, t[other]));
    for (const t of sources) need(t.base);
    if (sources.length > 0) for (const t of added[side]) need(t[side]);
  }
  // Git takes only a deleted file for the source of a rename, and only an added one for its target.
  const canRename = (['head', 'draft'] as const).some(
    (side) => deleted[side].length > 0 && added[side].length > 0,
  );
  return canRename
    ? {
        contents,
        whole,
        kept: whole ? new Set() : livingFolders(sides.base, touched, deleted),
        alone: undefined,
      }
    : { contents, whole, kept: new Set(), alone: contested };
}

/** The plan for one contested path, if no rename is possible; undefined if the path is not contested. */
export function planAlone(contested: TouchedPath[], path: string): GitPlan | undefined {
  const t = contested.find((one) => one.path === path);
  if (!t) return undefined;
  const contents = new Set([t.base, t.head, t.draft].flatMap((entry) => entry?.sha256 ?? []));
  return { contents, whole: false, kept: new Set(), alone: [t] };
}

/** Folders of the base to which the other side added files and of which `side` deleted all. */
function movedFolders(
  side: Side,
  sides: Sides,
  deleted: Record<Side, TouchedPath[]>,
  added: Record<Side, TouchedPath[]>,
): Set<string> {
  const additions = added[side === 'head' ? 'draft' : 'head'];
  if (deleted[side].length === 0 || additions.length === 0 || added[side].length === 0) return new Set();
  const shrunk = new Set(deleted[side].flatMap((t) => [...foldersOf(t.path)]));
  const gone = new Set(additions.flatMap((t) => [...foldersOf(t.path)]).filter((f) => shrunk.has(f)));
  removeLiving(gone, sides[side]);
  return gone;
}

function removeLiving(folders: Set<string>, tree: Tree): void {
  for (const path of tree.keys()) {
    if (folders.size === 0) return;
    for (const folder of foldersOf(path)) folders.delete(folder);
  }
}

/**
 * Of the folders in which a side deleted something, those with untouched files, the root as ''. Which of
 * several files of one content git takes for the one that moved depends on the folders that are gone.
 */
function livingFolders(
  base: Tree,
  touched: TouchedPath[],
  deleted: Record<Side, TouchedPath[]>,
): Set<string> {
  const shrunk = new Set(['', ...[...deleted.head, ...deleted.draft].flatMap((t) => [...foldersOf(t.path)])]);
  const changed = new Set(touched.map((t) => t.path));
  const living = new Set<string>();
  for (const path of base.keys()) {
    if (shrunk.size === 0) break;
    if (!changed.has(path))
      for (const folder of ['', ...foldersOf(path)]) if (shrunk.delete(folder)) living.add(folder);
  }
  return living;
}
