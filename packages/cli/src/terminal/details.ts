/** Name and value, a pair a line. Values wrap under their own beginning; without a terminal, a tab is between. */
import stringWidth from 'fast-string-width';
import { oneLine, shown } from './escape.ts';
import type { Color, Paint } from './style.ts';

/** Pairs without a value (undefined) are left out; null is shown as `-`. */
export type Detail = readonly [
  label: string,
  value: string | number | boolean | null | undefined,
  color?: Color,
];

const GAP = '  ';
/** A narrower column would break every word: the text is then left to the terminal. */
const LEAST = 20;

/** Values are strangers' text, and are escaped here. */
export function detailsOf(
  details: readonly Detail[],
  { width, paint }: { width: number | null; paint: Paint },
): string {
  const given = details.filter(([, value]) => value !== undefined);
  if (width === null) return given.map(([label, value]) => `${label}\t${oneLine(textOf(value))}`).join('\n');
  const labels = Math.max(0, ...given.map(([label]) => stringWidth(label)));
  const room = width - labels - GAP.length;
  return given
    .flatMap(([label, value, color]) =>
      shown(textOf(value))
        .split('\n')
        .flatMap((line) => wrapped(line, room))
        .map((line, at) => {
          const name =
            at === 0 ? paint('dim', label) + ' '.repeat(labels - stringWidth(label)) : ' '.repeat(labels);
          return `${name}${GAP}${color ? paint(color, line) : line}`.trimEnd();
        }),
    )
    .join('\n');
}

function textOf(value: Detail[1]): string {
  if (value === null || value === undefined || value === '') return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return String(value);
}

/** Lines of at most `width` columns, broken between words; a longer word stays whole, so that it can be copied. */
function wrapped(text: string, width: number): string[] {
  if (width < LEAST || stringWidth(text) <= width) return [text];
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && stringWidth(longer) > width) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}
