/** Conflicts that belong together: below a folder, two names that collide, the paths of one move. */
import type { Conflict } from './conflict.ts';

/** As the service compares names: by case and Unicode form alike. */
const folded = (path: string): string => path.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC');

/** For each path of this kind, all paths that it belongs with, itself among them. */
export function groupsOf(conflicts: readonly Conflict[], kind: 'path' | 'rename'): Map<string, string[]> {
  const own = conflicts.filter((one) => one.kind === kind);
  return kind === 'path' ? collisions(own) : moves(own);
}

/** A name collides with one that is equal but for case, and with a file that is a folder on the other side. */
function collisions(conflicts: readonly Conflict[]): Map<string, string[]> {
  const names = new Set(conflicts.map(({ path }) => folded(path)));
  return grouped(conflicts, (path) => rootOf(folded(path), names));
}

function rootOf(name: string, names: ReadonlySet<string>): string {
  for (let slash = name.indexOf('/'); slash !== -1; slash = name.indexOf('/', slash + 1))
    if (names.has(name.slice(0, slash))) return name.slice(0, slash);
  return name;
}

function grouped(conflicts: readonly Conflict[], keyOf: (path: string) => string): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const { path } of conflicts) {
    const key = keyOf(path);
    const group = groups.get(key);
    if (group) group.push(path);
    else groups.set(key, [path]);
  }
  return new Map([...groups.values()].flatMap((group) => group.map((path) => [path, group] as const)));
}

/** Paths of moved files with equal contents on any side: the service does not say which belong together. */
function moves(conflicts: readonly Conflict[]): Map<string, string[]> {
  const rootOfHash = new Map<string, string>();
  const parent = new Map<string, string>();
  const find = (path: string): string => {
    const above = parent.get(path) ?? path;
    return above === path ? path : find(above);
  };
  for (const { path, base, head, draft } of conflicts)
    for (const hash of [base, head, draft]) {
      if (hash === null) continue;
      const first = rootOfHash.get(hash);
      if (first === undefined) rootOfHash.set(hash, path);
      else if (find(path) !== find(first)) parent.set(find(path), find(first));
    }
  return grouped(conflicts, find);
}

/** Where two names collide: the draft's one as it is written, up to the part that both share. */
export function collidingName(path: string, group: readonly string[]): string {
  const shortest = group.reduce((a, b) => (b.split('/').length < a.split('/').length ? b : a));
  return path.split('/').slice(0, shortest.split('/').length).join('/');
}
