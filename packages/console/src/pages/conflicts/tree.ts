/** Conflicts as rows: folders above what is in them. */
import type { Conflict, Entries } from './decisions.ts';
import { isDecided } from './decisions.ts';

export type Row =
  | { type: 'folder'; path: string; name: string; depth: number; count: number; open: number }
  | { type: 'file'; path: string; name: string; depth: number; conflict: Conflict };

/** A folder has a row where it holds more than one conflict, and more than the folder below it. */
export function rowsOf(conflicts: readonly Conflict[], entries: Entries, onlyOpen: boolean): Row[] {
  const isOpen = ({ path }: Conflict) => {
    const entry = entries.get(path);
    return !entry || !isDecided(entry);
  };
  const shown = onlyOpen ? conflicts.filter(isOpen) : conflicts;
  return below(shown, { parent: '', depth: 0, isOpen });
}

interface Place {
  parent: string;
  depth: number;
  isOpen: (conflict: Conflict) => boolean;
}

function below(conflicts: readonly Conflict[], { parent, depth, isOpen }: Place): Row[] {
  const groups = new Map<string, Conflict[]>();
  for (const conflict of conflicts) {
    const slash = conflict.path.indexOf('/', parent.length);
    const key = slash === -1 ? conflict.path : conflict.path.slice(0, slash + 1);
    const group = groups.get(key);
    if (group) group.push(conflict);
    else groups.set(key, [conflict]);
  }
  return [...groups].flatMap(([key, group]): Row[] => {
    if (group.length === 1)
      return [
        {
          type: 'file',
          path: group[0]!.path,
          name: group[0]!.path.slice(parent.length),
          depth,
          conflict: group[0]!,
        },
      ];
    const path = longestFolder(group, key);
    return [
      {
        type: 'folder',
        path,
        name: path.slice(parent.length),
        depth,
        count: group.length,
        open: group.filter(isOpen).length,
      },
      ...below(group, { parent: path, depth: depth + 1, isOpen }),
    ];
  });
}

/** The deepest folder that holds all of them. */
function longestFolder(group: readonly Conflict[], from: string): string {
  const [first, ...rest] = group.map(({ path }) => path);
  let folder = from;
  for (let slash = first!.indexOf('/', folder.length); slash !== -1; slash = first!.indexOf('/', slash + 1)) {
    const next = first!.slice(0, slash + 1);
    if (!rest.every((path) => path.startsWith(next))) break;
    folder = next;
  }
  return folder;
}

/** The next conflict without a decision, after this one and then from the first. */
export function nextOpen(
  conflicts: readonly Conflict[],
  entries: Entries,
  path: string | null,
): string | null {
  const isOpen = (one: Conflict) => {
    const entry = entries.get(one.path);
    return !entry || !isDecided(entry);
  };
  const at = conflicts.findIndex((one) =>
    path?.endsWith('/') ? one.path.startsWith(path) : one.path === path,
  );
  const start = path?.endsWith('/') ? at - 1 : at;
  for (let step = 1; step <= conflicts.length; step++) {
    const one = conflicts[(Math.max(start, -1) + step + conflicts.length) % conflicts.length]!;
    if (isOpen(one)) return one.path;
  }
  return null;
}
