/**
 * A diff of many files: heights before anything is parsed, and rows of the files on the screen. Counting the rows
 * of 10 MiB of patches takes some milliseconds; a file is parsed when it is scrolled to.
 */
import { diffRows } from './diff-rows.ts';
import type { DiffOptions, DiffRows } from './diff-rows.ts';
import { MAX_HEIGHT, ROW, cellsOf, evenHeights, linesOf, topOf, wrappedHeights } from './heights.ts';
import type { Heights } from './heights.ts';
import { MAX_HIGHLIGHTED } from './limits.ts';
import { HUNK, countRows, parsePatch, rowText } from './patch.ts';

/** A file of the API's diff. */
export interface DiffFile {
  path: string;
  oldPath?: string | undefined;
  status: string;
  binary: boolean;
  additions: number;
  deletions: number;
  /** Absent until it is asked for, and where the file has none. */
  patch?: string | undefined;
  truncated?: boolean | undefined;
}

/** What is below a file's head. */
export type Body = 'rows' | 'binary' | 'truncated' | 'unchanged' | 'missing';

export const HEAD_HEIGHT = 36;
export const NOTE_HEIGHT = 40;
/** Below each file. */
export const GAP = 8;
/** Rows of all parsed files that are kept. */
const KEPT_ROWS = 400_000;

/** What can be shown of a file. */
export function bodyOf(file: DiffFile): Body {
  if (file.patch !== undefined) return 'rows';
  if (file.truncated === true) return 'truncated';
  if (file.binary) return 'binary';
  return file.additions + file.deletions > 0 ? 'missing' : 'unchanged';
}

/** Height in pixels of what is below a file's head, before its patch is parsed. */
export function guessBody(file: DiffFile): number {
  let height = guesses.get(file);
  if (height === undefined) guesses.set(file, (height = countBody(file)));
  return height;
}

const guesses = new WeakMap<DiffFile, number>();

function countBody(file: DiffFile): number {
  const body = bodyOf(file);
  if (body === 'rows') return Math.max(ROW, countRows(file.patch!) * ROW);
  // A change has six lines of context, as a rule.
  const context = file.status === 'added' || file.status === 'deleted' ? 1 : 7;
  if (body === 'missing') return Math.min(MAX_HEIGHT, (file.additions + file.deletions + context) * ROW);
  return NOTE_HEIGHT;
}

/** Files that start folded, so that the list is not higher than a browser can scroll. */
export function foldedAtFirst(files: readonly DiffFile[]): Set<string> {
  const folded = new Set<string>();
  let height = 0;
  for (const file of files) {
    const body = guessBody(file);
    if (height + body > MAX_HEIGHT) folded.add(file.path);
    else height += body;
  }
  return folded;
}

/** Parsed files, those that were used last. */
export class DiffCache {
  #rows = new Map<string, { patch: string; rows: DiffRows }>();
  #kept = 0;

  /** Rows of a file that has a patch. */
  rows(file: DiffFile, options: DiffOptions): DiffRows {
    const key = `${options.split ? 's' : 'u'}${options.ignoreSpace ? 'i' : 'e'}${file.path}`;
    const known = this.#rows.get(key);
    if (known !== undefined) this.#forget(key, known.rows);
    const rows = known?.patch === file.patch ? known!.rows : diffRows(file.patch!, options);
    this.#rows.set(key, { patch: file.patch!, rows });
    this.#kept += rows.patch.length;
    for (const [old, entry] of this.#rows) {
      if (this.#kept <= KEPT_ROWS || old === key) break;
      this.#forget(old, entry.rows);
    }
    return rows;
  }

  #forget(key: string, rows: DiffRows): void {
    this.#rows.delete(key);
    this.#kept -= rows.patch.length;
  }
}

/** Heights of a file's rows; `cells` is the width of a column of text, null without wrapping. */
export function heightsOf(rows: DiffRows, cells: number | null): Heights {
  if (cells === null) return evenHeights(rows.length);
  const { patch, left, right } = rows;
  const lines = (at: number) => (at < 0 || patch.kind[at] === HUNK ? 1 : linesOf(rowText(patch, at), cells));
  return wrappedHeights(rows.length, (row) => {
    const before = lines(left[row]!);
    return left[row] === right[row] ? before : Math.max(before, lines(right[row]!));
  });
}

/** Height in pixels of a file's rows; a file whose changes are all hidden has a note. */
export function bodyHeight(heights: Heights): number {
  return heights.count === 0 ? NOTE_HEIGHT : topOf(heights, heights.count);
}

/** Cells of the longest line. */
export function widestOf(rows: DiffRows): number {
  let widest = 0;
  const { patch } = rows;
  for (let at = 0; at < patch.length; at++) {
    // A line has at most four cells for each character.
    if ((patch.to[at]! - patch.from[at]!) * 4 <= widest || patch.kind[at] === HUNK) continue;
    widest = Math.max(widest, cellsOf(rowText(patch, at)));
  }
  return widest;
}

/** One side of a patch as a text to highlight, and the line in it of each row of the patch. */
export interface Side {
  text: string;
  lines: Int32Array;
}

/** The old or the new side; null where it is empty or too long. */
export function sideOf(rows: DiffRows, side: 'old' | 'new'): Side | null {
  const { patch } = rows;
  if (patch.text.length > MAX_HIGHLIGHTED) return null;
  const numbers = side === 'old' ? patch.oldLine : patch.newLine;
  const texts: string[] = [];
  const lines = new Int32Array(patch.length).fill(-1);
  for (let at = 0; at < patch.length; at++) {
    if (patch.kind[at] === HUNK || numbers[at] === 0) continue;
    lines[at] = texts.length;
    texts.push(rowText(patch, at));
  }
  return texts.length === 0 ? null : { text: texts.join('\n'), lines };
}

/** A place in a diff: the file's index and the row of its patch. */
export interface Place {
  file: number;
  row: number;
}

/** The next place after `from` whose line contains `query`, in files that have a patch; null without one. */
export function findNext(
  files: readonly DiffFile[],
  query: string,
  from: Place | null,
  back = false,
): Place | null {
  if (query === '') return null;
  const wanted = query.toLowerCase();
  const step = back ? -1 : 1;
  const first = from?.file ?? 0;
  for (let turn = 0; turn <= files.length; turn++) {
    const file = (((first + turn * step) % files.length) + files.length) % files.length;
    const text = files[file]?.patch;
    if (text === undefined || !text.toLowerCase().includes(wanted)) continue;
    const patch = parsePatch(text);
    for (let count = 0; count < patch.length; count++) {
      const row = back ? patch.length - 1 - count : count;
      if (turn === 0 && from !== null && (back ? row >= from.row : row <= from.row)) continue;
      if (patch.kind[row] !== HUNK && rowText(patch, row).toLowerCase().includes(wanted))
        return { file, row };
    }
  }
  return null;
}
