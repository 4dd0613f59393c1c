import { CLASSES } from './limits.ts';
import type { Highlights } from './tokens.ts';

/** A piece of a line with its classes. */
export interface Segment {
  text: string;
  className: string;
}

/** Ranges of a line that get a class, flat: from, to. */
export interface Marks {
  className: string;
  ranges: number[];
}

/** `text` cut where its colours or marks change. `line` is its line in `highlights`, -1 without one. */
export function segmentsOf(
  text: string,
  highlights: Highlights | null | undefined,
  line: number,
  marks: Marks[] = [],
): Segment[] {
  const spans = spansOf(highlights, line);
  if (spans.length === 0 && marks.length === 0) return text === '' ? [] : [{ text, className: '' }];
  const cuts = new Set([0, text.length]);
  for (let index = 0; index < spans.length; index += 3) {
    cuts.add(Math.min(spans[index]!, text.length));
    cuts.add(Math.min(spans[index + 1]!, text.length));
  }
  for (const { ranges } of marks) for (const cut of ranges) cuts.add(Math.min(cut, text.length));
  const places = [...cuts].toSorted((left, right) => left - right);
  const segments: Segment[] = [];
  let span = 0;
  for (const [index, from] of places.entries()) {
    const to = places[index + 1];
    if (to === undefined) break;
    while (span < spans.length && spans[span + 1]! <= from) span += 3;
    const classes = span < spans.length && spans[span]! <= from ? [CLASSES[spans[span + 2]!] ?? ''] : [];
    for (const { className, ranges } of marks) if (isInside(ranges, from)) classes.push(className);
    const className = classes.join(' ');
    const last = segments.at(-1);
    if (last?.className === className) last.text += text.slice(from, to);
    else segments.push({ text: text.slice(from, to), className });
  }
  return segments;
}

/** Where `query` occurs in `text`, without regard to case, flat: from, to. */
export function findIn(text: string, query: string): number[] {
  if (query === '') return [];
  const [inText, wanted] = [text.toLowerCase(), query.toLowerCase()];
  // A character that is longer in lower case would move what follows.
  if (inText.length !== text.length) return [];
  const ranges: number[] = [];
  for (let at = inText.indexOf(wanted); at >= 0; at = inText.indexOf(wanted, at + wanted.length))
    ranges.push(at, at + wanted.length);
  return ranges;
}

function spansOf(highlights: Highlights | null | undefined, line: number): Uint32Array {
  if (!highlights || line < 0 || line + 1 >= highlights.lines.length) return new Uint32Array();
  return highlights.spans.subarray(highlights.lines[line]! * 3, highlights.lines[line + 1]! * 3);
}

function isInside(ranges: number[], at: number): boolean {
  for (let index = 0; index < ranges.length; index += 2)
    if (ranges[index]! <= at && at < ranges[index + 1]!) return true;
  return false;
}
