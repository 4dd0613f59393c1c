/** The places of a file where head and draft contradict each other. */
import type { ConflictFile, ConflictSide } from '@headrace/client';
import type { Conflict } from './decisions.ts';

export interface Region {
  /** Of the head, from 1. */
  line: number;
  before: string[];
  /** Null if the service does not say what the base had. */
  base: string[] | null;
  /** Null: the side deleted the file. */
  head: string[] | null;
  draft: string[] | null;
  after: string[];
}

const CONTEXT_LINES = 3;
/** A carriage return stays: it may be all that differs. */
const withoutEnd = (line: string): string => line.replace(/\n$/, '');
const linesOf = (text: string): string[] => (text === '' ? [] : text.split(/(?<=\n)/));

/** Empty where git merges no text: one side's whole file is taken. */
export function regionsOf({ hunks }: Conflict, file: ConflictFile): Region[] {
  const { head, draft, merged } = file;
  if (hunks && head?.encoding === 'utf8' && head.content !== null) {
    const lines = linesOf(head.content).map(withoutEnd);
    return hunks.map(({ baseStart, headStart, draftStart, base, head: ours, draft: theirs }) => {
      // A region without lines is after the line that it names.
      const from = ours.length > 0 ? headStart - 1 : headStart;
      return {
        line: from + 1,
        before: lines.slice(Math.max(0, from - CONTEXT_LINES), from),
        ...withLastEnds([
          { lines: base, start: baseStart, file: file.base },
          { lines: ours, start: headStart, file: head },
          { lines: theirs, start: draftStart, file: draft },
        ]),
        after: lines.slice(from + ours.length, from + ours.length + CONTEXT_LINES),
      };
    });
  }
  const parts = merged && partsOf(merged);
  if (!parts) return head && draft ? [] : changeOfOneSide(file);
  let line = 1;
  return parts.flatMap((part, at) => {
    const began = line;
    line += 'text' in part ? part.text.length : part.head.length;
    if ('text' in part) return [];
    const [before, after] = [parts[at - 1], parts[at + 1]];
    return [
      {
        line: began,
        before: before && 'text' in before ? before.text.slice(-CONTEXT_LINES).map(withoutEnd) : [],
        base: null,
        head: part.head.map(withoutEnd),
        draft: part.draft.map(withoutEnd),
        after: after && 'text' in after ? after.text.slice(0, CONTEXT_LINES).map(withoutEnd) : [],
      },
    ];
  });
}

const NO_NEWLINE = '\\ No newline at end of file';

interface SideLines {
  lines: readonly string[];
  /** From 1. */
  start: number;
  file: ConflictSide | null;
}

/** Lines without their ends; where the sides differ in the newline at the end of the file, it says so, as git does. */
function withLastEnds(sides: readonly [base: SideLines, head: SideLines, draft: SideLines]) {
  const ends = sides.map(({ lines, start, file }) => {
    const content = file?.content ?? '';
    const isLast = lines.length > 0 && start - 1 + lines.length === linesOf(content).length;
    return isLast ? content.endsWith('\n') : null;
  });
  const differ = ends.includes(true) && ends.includes(false);
  const [base, head, draft] = sides.map(({ lines }, at) => [
    ...lines.map(withoutEnd),
    ...(differ && ends[at] === false ? [NO_NEWLINE] : []),
  ]) as [string[], string[], string[]];
  return { base, head, draft };
}

/** Where one side deleted the file: what the other one changed. */
function changeOfOneSide({ base, head, draft }: ConflictFile): Region[] {
  const [was, now] = [base, head ?? draft].map((side) =>
    side?.encoding === 'utf8' && side.content !== null ? linesOf(side.content).map(withoutEnd) : null,
  );
  if (!was || !now) return [];
  const least = Math.min(was.length, now.length);
  let start = 0;
  while (start < least && was[start] === now[start]) start++;
  let end = 0;
  while (end < least - start && was.at(-1 - end) === now.at(-1 - end)) end++;
  const changed = now.slice(start, now.length - end);
  const region = {
    line: start + 1,
    before: now.slice(Math.max(0, start - CONTEXT_LINES), start),
    base: was.slice(start, was.length - end),
    after: now.slice(now.length - end).slice(0, CONTEXT_LINES),
  };
  if (changed.length + region.base.length === 0) return [];
  return [{ ...region, head: head ? changed : null, draft: head ? null : changed }];
}

type Part = { text: string[] } | { head: string[]; draft: string[] };
const SEPARATOR = /^={7,}\r?\n?$/;
const MARKER = /^(?:<{7,}|>{7,}|\|{7,})(?: .*)?\r?\n?$/;

/**
 * Lines with their ends. The service says where its outer markers are. Null if a line between them cannot be told from
 * a marker.
 */
function partsOf({ content, regions }: NonNullable<ConflictFile['merged']>): Part[] | null {
  const lines = linesOf(content);
  const parts: Part[] = [];
  let at = 0;
  for (const { fromLine, toLine } of regions) {
    if (fromLine - 1 > at) parts.push({ text: lines.slice(at, fromLine - 1) });
    const inside = lines.slice(fromLine, toLine - 1);
    const middle = inside.findIndex((line) => SEPARATOR.test(line));
    const isClear =
      middle !== -1 && !inside.some((line, i) => MARKER.test(line) || (i > middle && SEPARATOR.test(line)));
    if (!isClear) return null;
    parts.push({ head: inside.slice(0, middle), draft: inside.slice(middle + 1) });
    at = toLine;
  }
  if (at < lines.length) parts.push({ text: lines.slice(at) });
  return parts;
}

/** The text with the head's lines and then the draft's at each conflict. Null if the markers are not clear. */
export const withBoth = (merged: NonNullable<ConflictFile['merged']>): string | null =>
  partsOf(merged)
    ?.flatMap((part) => ('text' in part ? part.text : [...part.head, ...part.draft]))
    .join('') ?? null;

/** Lines that look like the markers that git wrote, and were not in either side. */
export function markersIn(text: string, { head, draft }: Pick<ConflictFile, 'head' | 'draft'>): number[] {
  const own = new Set(
    [head, draft].flatMap((side) => markedLines(side?.content ?? '').map(([, line]) => line)),
  );
  return markedLines(text).flatMap(([number, line]) => (own.has(line) ? [] : [number]));
}

const markedLines = (text: string): [number, string][] =>
  text.split('\n').flatMap((line, at) => (MARKER.test(line) || SEPARATOR.test(line) ? [[at + 1, line]] : []));
