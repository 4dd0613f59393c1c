import { countLines } from './object-store.ts';

const LINE_END = 10;

/**
 * Lines that a patch between the equal first and last lines of two texts would add and delete: linear,
 * seldom the fewest.
 */
export function coarseCounts(from: Buffer, to: Buffer): { additions: number; deletions: number } {
  const shorter = Math.min(from.length, to.length);
  let start = 0;
  let lineStart = 0;
  while (start < shorter && from[start] === to[start]) if (from[start++] === LINE_END) lineStart = start;
  let end = 0;
  let lineEnd = 0;
  while (end < shorter - lineStart && from[from.length - 1 - end] === to[to.length - 1 - end]) {
    end++;
    // A suffix of whole lines begins right behind a line end, in both texts.
    if (isLineStart(from, from.length - end) && isLineStart(to, to.length - end)) lineEnd = end;
  }
  return {
    additions: countLines(to.subarray(lineStart, to.length - lineEnd)),
    deletions: countLines(from.subarray(lineStart, from.length - lineEnd)),
  };
}

const isLineStart = (text: Buffer, at: number): boolean => at === 0 || text[at - 1] === LINE_END;
