/** One line: whether it matches, and where, in code points. */
import type { RE2JS } from 're2js';
import type { Range } from './protocol.ts';

const MAX_RANGES = 100;
/** Code points of a line that are sent. */
export const MAX_TEXT = 1_000;
const SURROGATE = /[\ud800-\udfff]/;

export interface LineMatch {
  column: number;
  ranges: Range[];
}

/**
 * Null if the line does not match. Each match is found in time linear in the line, but a line can have as many
 * empty ones as characters: when it is late, the ranges end early.
 */
export function matchLine(regex: RE2JS, line: string, isLate: () => boolean): LineMatch | null {
  if (!regex.test(line)) return null;
  const places = placesOf(line);
  const matcher = regex.matcher(line);
  const ranges: Range[] = [];
  let first: number | null = null;
  while (matcher.find()) {
    const [start, end] = [matcher.start(), matcher.end()];
    first ??= start;
    if (end > start && ranges.push({ start: places(start), end: places(end) }) === MAX_RANGES) break;
    if (isLate()) break;
  }
  return { column: (ranges[0]?.start ?? placesOf(line)(first ?? 0)) + 1, ranges };
}

/** Code points before an index, for indexes that grow. */
function placesOf(line: string): (index: number) => number {
  if (!SURROGATE.test(line)) return (index) => index;
  let [at, points] = [0, 0];
  return (index) => {
    while (at < index) {
      at += line.codePointAt(at)! > 0xffff ? 2 : 1;
      points++;
    }
    return points;
  };
}

/** The first 1,000 code points, and whether there are more. */
export function shortened(line: string): { text: string; truncated: boolean } {
  if (line.length <= MAX_TEXT) return { text: line, truncated: false };
  let at = 0;
  for (let points = 0; points < MAX_TEXT; points++) at += (line.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return { text: line.slice(0, at), truncated: at < line.length };
}
