/** Where the keys are in a diff: a row of a file, or its head. */
import type { DiffRows } from './diff-rows.ts';
import { HUNK } from './patch.ts';

/** The row of a file's head. */
export const HEAD = -1;

export interface Spot {
  file: number;
  row: number;
}

/** Rows of a file that are shown; null while it is folded, or has none. */
export type RowsOf = (file: number) => DiffRows | null;

/** The spot this many rows on: over heads and lines, not over the texts between hunks. Ends at the ends. */
export function nextSpot(from: Spot, step: number, [files, rowsOf]: [files: number, rowsOf: RowsOf]): Spot {
  const by = Math.sign(step);
  let at = from;
  for (let left = Math.abs(step); left > 0; left--) {
    let next: Spot | null = at;
    do next = neighbour(next, by, [files, rowsOf]);
    while (next && next.row !== HEAD && isHunk(rowsOf(next.file)!, next.row));
    if (!next) return at;
    at = next;
  }
  return at;
}

/** The spot as the rows are now: the head of a file that has the row no more, the line below the text of a hunk. */
export function spotNow({ file, row }: Spot, rowsOf: RowsOf): Spot {
  const rows = row === HEAD ? null : rowsOf(file);
  if (rows === null || row >= rows.length) return { file, row: HEAD };
  return { file, row: isHunk(rows, row) ? Math.min(row + 1, rows.length - 1) : row };
}

function neighbour({ file, row }: Spot, by: number, [files, rowsOf]: [number, RowsOf]): Spot | null {
  const next = row + by;
  if (next >= HEAD && next < (rowsOf(file)?.length ?? 0)) return { file, row: next };
  if (by > 0) return file + 1 < files ? { file: file + 1, row: HEAD } : null;
  return file > 0 ? { file: file - 1, row: (rowsOf(file - 1)?.length ?? 0) - 1 } : null;
}

const isHunk = ({ left, right, patch }: DiffRows, row: number) =>
  left[row]! >= 0 && left[row] === right[row] && patch.kind[left[row]!] === HUNK;

/** The line of a row: on this side if it has one, else on the other. Null where it has none. */
export function lineAt(
  { left, right, patch }: DiffRows,
  row: number,
  side: 'old' | 'new',
): { line: number; side: 'old' | 'new' } | null {
  for (const now of side === 'new' ? (['new', 'old'] as const) : (['old', 'new'] as const)) {
    const at = now === 'new' ? right[row]! : left[row]!;
    const line = at < 0 ? 0 : (now === 'new' ? patch.newLine : patch.oldLine)[at]!;
    if (line > 0) return { line, side: now };
  }
  return null;
}
