/** What a search found, as files with the lines around their matches. */
import type { SearchMatch } from '@headrace/client';

export interface ShownLine {
  /** From 1. */
  number: number;
  text: string;
  /** Null: a line around a match. */
  match: { ranges: number[]; isCut: boolean } | null;
  /** Lines before it are left out. */
  isAfterGap: boolean;
}

export interface FoundFile {
  path: string;
  /** Lines with a match. */
  count: number;
  lines: ShownLine[];
}

/** Matches in the order of the service: by path, then by line. What stands around several stands there once. */
export function filesOf(matches: readonly SearchMatch[]): FoundFile[] {
  const byPath = Map.groupBy(matches, ({ path }) => path);
  return [...byPath].map(([path, found]) => ({ path, count: found.length, lines: linesOf(found) }));
}

function linesOf(matches: readonly SearchMatch[]): ShownLine[] {
  const lines = new Map<number, Omit<ShownLine, 'isAfterGap'>>();
  const around = (number: number, text: string) => {
    if (!lines.has(number)) lines.set(number, { number, text, match: null });
  };
  for (const { line, text, ranges, truncated, before, after } of matches) {
    for (const [index, one] of before.entries()) around(line - before.length + index, one);
    lines.set(line, { number: line, text, match: { ranges: unitsOf(text, ranges), isCut: truncated } });
    for (const [index, one] of after.entries()) around(line + 1 + index, one);
  }
  const sorted = [...lines.values()].toSorted((a, b) => a.number - b.number);
  return sorted.map((line, index) => ({
    ...line,
    isAfterGap: index > 0 && sorted[index - 1]!.number !== line.number - 1,
  }));
}

/** Ranges in code points as flat ones in UTF-16 units; what lies behind the text is left out. */
function unitsOf(text: string, ranges: readonly { start: number; end: number }[]): number[] {
  const starts: number[] = [];
  let at = 0;
  for (const character of text) {
    starts.push(at);
    at += character.length;
  }
  return ranges
    .filter(({ start }) => start < starts.length)
    .flatMap(({ start, end }) => [starts[start]!, starts[end] ?? text.length]);
}

const GLOBS = 20;
const GLOB_CHARACTERS = 256;

/** Globs as they are sent, without what is typed around commas. */
export const globsOf = (typed: string): string =>
  typed
    .split(',')
    .map((glob) => glob.trim())
    .filter(Boolean)
    .join(',');

/** What the service would refuse of them for their number or length. */
export function globFault(typed: string): string | null {
  const globs = globsOf(typed).split(',');
  if (globs.length > GLOBS) return `At most ${GLOBS}, with commas between.`;
  return globs.some((glob) => [...glob].length > GLOB_CHARACTERS)
    ? `Each has at most ${GLOB_CHARACTERS} characters.`
    : null;
}
