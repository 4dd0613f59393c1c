/** Differences between sources, file by file, without patches. */
import type { DiffFile } from '../generated/types.ts';
import { isSame, textOf } from './files.ts';
import type { Entry, Files } from './world.ts';

export function changesOf(before: Files, after: Files): DiffFile[] {
  return [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((path): DiffFile[] => {
    const [old, now] = [before.get(path), after.get(path)];
    if (isSame(old, now)) return [];
    const status = !old ? 'added' : !now ? 'deleted' : old.sha256 === now.sha256 ? 'mode' : 'modified';
    const [a, b] = [linesOf(old), linesOf(now)];
    if (!a || !b) return [{ path, status, binary: true, additions: 0, deletions: 0 }];
    const kept = commonLines(a, b);
    return [{ path, status, binary: false, additions: b.length - kept, deletions: a.length - kept }];
  });
}

/** Null if it is not text. */
function linesOf(entry: Entry | undefined): string[] | null {
  const text = entry ? textOf(entry) : '';
  return text === null || text.includes('\0') ? null : text.split(/(?<=\n)/).filter((line) => line !== '');
}

/** The length of the longest common subsequence. */
function commonLines(a: string[], b: string[]): number {
  let row = Array.from({ length: b.length + 1 }, () => 0);
  for (const line of a) {
    const next = [0];
    for (const [i, other] of b.entries())
      next.push(line === other ? row[i]! + 1 : Math.max(row[i + 1]!, next[i]!));
    row = next;
  }
  return row.at(-1)!;
}
