import { MAX_LINE } from './limits.ts';

/** Height of a row of code in pixels: `--text-mono`'s line. */
export const ROW = 20;
/** Elements higher than this are cut by browsers (Firefox: 17.9 million pixels). */
export const MAX_HEIGHT = 15_000_000;

/** Heights of rows: all alike, or each with its own number of lines. */
export interface Heights {
  count: number;
  /** Where each row starts, in lines, and the end; undefined: one line each. */
  starts: Uint32Array | undefined;
}

/** Heights of rows that are not wrapped. */
export function evenHeights(count: number): Heights {
  return { count, starts: undefined };
}

/** Heights of wrapped rows. */
export function wrappedHeights(count: number, linesOf: (row: number) => number): Heights {
  const starts = new Uint32Array(count + 1);
  for (let row = 0; row < count; row++) starts[row + 1] = starts[row]! + linesOf(row);
  return { count, starts };
}

/** Where a row starts, in pixels; `count` gives the height of all. */
export function topOf(heights: Heights, row: number): number {
  return (heights.starts === undefined ? row : heights.starts[row]!) * ROW;
}

/** The row at a height in pixels. */
export function rowAt(heights: Heights, top: number): number {
  const line = Math.max(0, Math.floor(top / ROW));
  if (heights.starts === undefined) return Math.min(line, heights.count);
  let [low, high] = [0, heights.count];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (heights.starts[middle]! <= line) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Rows between two heights, with some before and after. */
export function rowsBetween(heights: Heights, top: number, bottom: number): [from: number, to: number] {
  const spare = 6;
  if (bottom <= 0 || top >= topOf(heights, heights.count)) return [0, 0];
  const from = Math.max(0, rowAt(heights, top) - spare);
  const to = Math.min(heights.count, rowAt(heights, bottom) + 1 + spare);
  return [from, to];
}

/** Lines that a text takes in a column of `width` cells. */
export function linesOf(text: string, width: number): number {
  return Math.max(1, Math.ceil(cellsOf(text) / Math.max(1, width)));
}

/** Cells of a text in a font of even width; a tab goes to the next multiple of 4. */
export function cellsOf(text: string): number {
  const end = Math.min(text.length, MAX_LINE);
  let cells = 0;
  for (let at = 0; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code === 9) cells += 4 - (cells % 4);
    // East Asian wide characters; both halves of a surrogate pair make two.
    else if (code >= 0x1100 && isWide(code)) cells += 2;
    else cells++;
  }
  return cells + (text.length > MAX_LINE ? 24 : 0);
}

function isWide(code: number): boolean {
  return (
    code <= 0x115f ||
    (code >= 0x2e80 && code <= 0xa4cf) ||
    (code >= 0xac00 && code <= 0xd7a3) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0xfe30 && code <= 0xfe6f) ||
    (code >= 0xff00 && code <= 0xff60)
  );
}
