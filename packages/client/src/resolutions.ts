/** Many decisions on conflicts as few resolutions: an apply takes only so many, but a folder covers all below it. */
import type { CreateApplyBodyResolutions } from './generated/types.ts';

/** Of one apply. */
export const MAX_RESOLUTIONS = 1000;

/** What a folder above says; null where none says anything. */
type Above = CreateApplyBodyResolutions[number]['take'] | null;

interface Folder {
  path: string;
  folders: Map<string, Folder>;
  files: { path: string; take: Above }[];
  /** How many resolutions it needs below one that says this. */
  least: Map<Above, number>;
}

/**
 * The fewest resolutions that mean the same: a folder takes the side of most conflicts below it, and what differs has
 * one of its own. `paths` are all paths in conflict; what has no resolution stays without one. One difference is left:
 * where a taken side clashes with a path that had merged cleanly, the service puts that path in conflict too, and a
 * folder here settles it, which single paths would have left open.
 */
export function compactResolutions(
  paths: readonly string[],
  resolutions: Readonly<CreateApplyBodyResolutions>,
): CreateApplyBodyResolutions {
  const takes = new Map(resolutions.map(({ path, take }) => [path, take]));
  const root: Folder = folderAt('');
  for (const path of paths) folderOf(root, path).files.push({ path, take: takes.get(path) ?? null });
  return within(root, null);
}

const folderAt = (path: string): Folder => ({ path, folders: new Map(), files: [], least: new Map() });

function folderOf(root: Folder, path: string): Folder {
  let folder = root;
  for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1)) {
    const name = path.slice(0, slash + 1);
    const next = folder.folders.get(name) ?? folderAt(name);
    folder.folders.set(name, next);
    folder = next;
  }
  return folder;
}

/** With one of its own: what it says. */
function best(folder: Folder, above: Above): Above {
  const own = (['head', 'draft'] as const).toSorted((a, b) => inside(folder, a) - inside(folder, b))[0]!;
  return 1 + inside(folder, own) < inside(folder, above) ? own : above;
}

const least = (folder: Folder, above: Above): number => {
  const says = best(folder, above);
  return inside(folder, says) + (says === above ? 0 : 1);
};

/** How many it needs below itself where it is said to take `above`. */
function inside(folder: Folder, above: Above): number {
  const known = folder.least.get(above);
  if (known !== undefined) return known;
  let sum = 0;
  for (const { take } of folder.files)
    if (take !== above) sum += take === null ? Number.POSITIVE_INFINITY : 1;
  for (const below of folder.folders.values()) sum += least(below, above);
  folder.least.set(above, sum);
  return sum;
}

function within(folder: Folder, above: Above): CreateApplyBodyResolutions {
  return [
    ...folder.files.flatMap(({ path, take }) => (take === null || take === above ? [] : [{ path, take }])),
    ...[...folder.folders.values()].flatMap((below) => {
      const says = best(below, above);
      return [
        ...(says === null || says === above ? [] : [{ path: below.path, take: says }]),
        ...within(below, says),
      ];
    }),
  ];
}
