/**
 * Where even folders are more than one apply takes: the head's files at some paths go into the draft first, where they
 * are in conflict no more, until the rest fits.
 */
import { compactResolutions, MAX_RESOLUTIONS } from '@headrace/client';
import type { CreateEditInput, SourceFileContent } from '@headrace/client';
import type { Conflict, Resolution } from './conflict.ts';

/** At these, one path is one file: the head's file in the draft ends the conflict. */
const OF_ONE_PATH: ReadonlySet<string> = new Set(['content', 'add_add', 'delete_modify', 'binary', 'mode']);

/** The conflicts whose head's files go first: the fewest of an order. Null if all of them are not enough. */
export function goFirst(
  conflicts: readonly Conflict[],
  resolutions: readonly Resolution[],
): Conflict[] | null {
  const heads = inOrder(conflicts, resolutions);
  const fits = (count: number) => {
    const gone = new Set(heads.slice(0, count).map(({ path }) => path));
    const [paths, left] = [conflicts, resolutions].map((list) => list.filter(({ path }) => !gone.has(path)));
    return (
      compactResolutions(
        paths!.map(({ path }) => path),
        left as Resolution[],
      ).length <= MAX_RESOLUTIONS
    );
  };
  if (!fits(heads.length)) return null;
  let [least, most] = [0, heads.length];
  while (least < most) {
    const middle = Math.floor((least + most) / 2);
    if (fits(middle)) most = middle;
    else least = middle + 1;
  }
  return heads.slice(0, least);
}

/** Those that take the head, first where they are the fewest among files of the draft: there each saves a resolution. */
function inOrder(conflicts: readonly Conflict[], resolutions: readonly Resolution[]): Conflict[] {
  const more = new Map<string, number>();
  const mixed = new Set<string>();
  for (const { path, take } of resolutions) {
    const folder = folderOf(path);
    more.set(folder, (more.get(folder) ?? 0) + (take === 'head' ? 1 : -1));
    if (take === 'draft') mixed.add(folder);
  }
  const heads = new Set(resolutions.flatMap(({ path, take }) => (take === 'head' ? [path] : [])));
  const rank = ({ path }: Conflict) =>
    mixed.has(folderOf(path)) ? more.get(folderOf(path))! : Number.MAX_SAFE_INTEGER;
  return conflicts
    .filter(({ path, kind }) => heads.has(path) && OF_ONE_PATH.has(kind))
    .toSorted((a, b) => rank(a) - rank(b));
}

const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/') + 1);

const FILES_OF_ROUND = 200;
const CHARACTERS_OF_ROUND = 8 * 1024 * 1024;
const AT_ONCE = 4;

/** One edit: the head's files at the first of these. */
export async function roundOf(
  conflicts: readonly Conflict[],
  read: (path: string) => Promise<SourceFileContent>,
): Promise<CreateEditInput['changes']> {
  const changes: CreateEditInput['changes'] = [];
  let characters = 0;
  const changeOf = async ({ path, head }: Conflict) => {
    if (head === null) return { path, content: null };
    const { content, encoding, executable } = await read(path);
    return { path, content, encoding, executable };
  };
  const most = Math.min(conflicts.length, FILES_OF_ROUND);
  for (let at = 0; at < most && characters < CHARACTERS_OF_ROUND; at += AT_ONCE) {
    const some = await Promise.all(conflicts.slice(at, Math.min(at + AT_ONCE, most)).map(changeOf));
    changes.push(...some);
    characters += some.reduce((sum, { content }) => sum + (content?.length ?? 0), 0);
  }
  return changes;
}
