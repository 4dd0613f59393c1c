/**
 * What a repair changed besides the conflicts. A repair may have to change other files too (a caller, a
 * test, a lock file), but its report has to name them.
 */
import type { Repair } from '../../db/schema.ts';
import { sameEntry } from '../../trees/tree.ts';
import { comparePaths } from '../../trees/paths.ts';
import type { Tree } from '../../trees/tree.ts';

/**
 * Paths of `made` that the repair added, changed or removed and that were not in conflict, sorted by their
 * bytes.
 */
export function changedElsewhere(begun: Tree, made: Tree, conflicts: string[]): string[] {
  const free = new Set(conflicts);
  return [...new Set([...begun.keys(), ...made.keys()])]
    .filter((path) => !free.has(path) && !sameEntry(begun.get(path), made.get(path)))
    .toSorted(comparePaths);
}

/**
 * Those of `paths` that a report names neither in its summary nor in a check. A path is named by itself, or
 * by a folder above it with its slash.
 */
export function unnamed(paths: string[], { summary, checks }: NonNullable<Repair['report']>): string[] {
  const words = [summary, ...checks].join('\n').normalize('NFC');
  const folders = new Map<string, boolean>();
  const hasFolder = (folder: string): boolean => {
    const known = folders.get(folder) ?? names(words, folder.normalize('NFC'));
    folders.set(folder, known);
    return known;
  };
  return paths.filter((path) => !names(words, path.normalize('NFC')) && !foldersOf(path).some(hasFolder));
}

function foldersOf(path: string): string[] {
  const folders: string[] = [];
  for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1))
    folders.push(path.slice(0, slash + 1));
  return folders;
}

/** `src/a.ts` does not name `a.ts`, nor does `a.tsx`; `./a.ts` does, and a full stop may end the sentence. */
const BEGINS = /(?:^|[^\p{L}\p{N}_./-])(?:\.\/)?$/u;
const GOES_ON = /^(?:[\p{L}\p{N}_/-]|\.[\p{L}\p{N}_])/u;
/** `src/` alone names what is below it; in `src/[id].ts` it names nothing. */
const ENDS = /^(?:[\s"'`),;:!?\]]|\.(?:\s|$)|$)/;

function names(words: string, name: string): boolean {
  for (let at = words.indexOf(name); at !== -1; at = words.indexOf(name, at + 1)) {
    const after = words.slice(at + name.length, at + name.length + 4);
    if (
      BEGINS.test(words.slice(Math.max(0, at - 3), at)) &&
      (name.endsWith('/') ? ENDS.test(after) : !GOES_ON.test(after))
    )
      return true;
  }
  return false;
}
