/** Git's merged text with the places where head and draft contradict each other. */
import type { ConflictFile } from '@headrace/client';

/** Lines from 1, markers included. */
export interface Region {
  fromLine: number;
  toLine: number;
}
export interface Merged {
  content: string;
  regions: Region[];
}
export type Take = 'head' | 'draft' | 'both';
/** What is agreed on, or the two sides of a place. Lines with their ends. */
export type Part = { text: string[] } | { head: string[]; draft: string[] };

export const linesOf = (text: string): string[] => (text === '' ? [] : text.split(/(?<=\n)/));

const SEPARATOR = /^={7,}\r?\n?$/;
const MARKER = /^(?:<{7,}|>{7,}|\|{7,})(?: .*)?\r?\n?$/;

/** Null if a line between the markers cannot be told from a marker. */
export function partsOf({ content, regions }: Merged): Part[] | null {
  const lines = linesOf(content);
  const parts: Part[] = [];
  let at = 0;
  for (const { fromLine, toLine } of regions) {
    if (fromLine - 1 > at) parts.push({ text: lines.slice(at, fromLine - 1) });
    const sides = sidesOf(lines.slice(fromLine, toLine - 1));
    if (!sides) return null;
    parts.push(sides);
    at = toLine;
  }
  if (at < lines.length) parts.push({ text: lines.slice(at) });
  return parts;
}

function sidesOf(inside: string[]): { head: string[]; draft: string[] } | null {
  const middle = inside.findIndex((line) => SEPARATOR.test(line));
  const isClear =
    middle !== -1 && !inside.some((line, i) => MARKER.test(line) || (i > middle && SEPARATOR.test(line)));
  return isClear ? { head: inside.slice(0, middle), draft: inside.slice(middle + 1) } : null;
}

/** The text with one place decided: the head's lines, the draft's, or the head's and then the draft's. */
export function taken(merged: Merged, index: number, take: Take): Merged {
  const { content, regions } = merged;
  const region = regions[index];
  const lines = linesOf(content);
  const sides = region && sidesOf(lines.slice(region.fromLine, region.toLine - 1));
  if (!region || !sides) return merged;
  const wanted = [...(take === 'draft' ? [] : sides.head), ...(take === 'head' ? [] : sides.draft)];
  const less = region.toLine - region.fromLine + 1 - wanted.length;
  return {
    content: lines.toSpliced(region.fromLine - 1, region.toLine - region.fromLine + 1, ...wanted).join(''),
    regions: regions.flatMap(({ fromLine, toLine }, at) =>
      at === index
        ? []
        : at < index
          ? [{ fromLine, toLine }]
          : [{ fromLine: fromLine - less, toLine: toLine - less }],
    ),
  };
}

/** At each place the head's lines, then the draft's. Null if the markers are not clear. */
export function withBoth(merged: Merged): string | null {
  const parts = partsOf(merged)?.flatMap((part) =>
    'text' in part ? part.text : [...part.head, ...part.draft],
  );
  return parts?.join('') ?? null;
}

/** How many lines look like markers that git wrote, and were in neither side. */
export function markersIn(text: string, { head, draft }: Pick<ConflictFile, 'head' | 'draft'>): number {
  const own = new Set([head, draft].flatMap((side) => markedLines(side?.content ?? '')));
  return markedLines(text).filter((line) => !own.has(line)).length;
}

const markedLines = (text: string): string[] =>
  text.split('\n').filter((line) => MARKER.test(line) || SEPARATOR.test(line));
