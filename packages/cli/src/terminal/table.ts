/**
 * Tables that fit the width: the widest cells are cut first. Where that is not enough, each item is a block of lines.
 * Without a terminal, cells are whole, with tabs between.
 */
import stringWidth from 'fast-string-width';
import { detailsOf } from './details.ts';
import type { Detail } from './details.ts';
import { oneLine } from './escape.ts';
import type { Color, Paint } from './style.ts';

export interface Column<T> {
  header: string;
  /** Text of strangers is escaped here. */
  value(item: T): string | number | null | undefined;
  color?(item: T): Color | undefined;
  /** Numbers are aligned to the right. */
  right?: boolean;
  /** Never cut, for example an id that is to be copied. */
  whole?: boolean;
}

const GAP = '  ';
const LEAST = 6;

export function tableOf<T>(
  items: readonly T[],
  columns: readonly Column<T>[],
  { width, paint }: { width: number | null; paint: Paint },
): string {
  const rows = items.map((item) => columns.map((column) => oneLine(String(column.value(item) ?? '-'))));
  if (width === null) return rows.map((row) => row.join('\t')).join('\n');
  const widths = fitted(
    columns.map(({ header, whole }, at) => ({
      whole: whole ?? false,
      width: Math.max(stringWidth(header), ...rows.map((row) => stringWidth(row[at]!))),
    })),
    width,
  );
  if (sumOf(widths) > width) return blocksOf(items, columns, { width, paint });
  const line = (cells: readonly string[], color: (at: number) => Color | undefined) =>
    cells
      .map((cell, at) => {
        const text = cut(cell, widths[at]!);
        const space = ' '.repeat(widths[at]! - stringWidth(text));
        const tint = color(at);
        const painted = tint ? paint(tint, text) : text;
        if (columns[at]!.right) return space + painted;
        return at === cells.length - 1 ? painted : painted + space;
      })
      .join(GAP)
      .trimEnd();
  return [
    line(
      columns.map(({ header }) => header),
      () => 'dim',
    ),
    ...rows.map((row, index) => line(row, (at) => columns[at]!.color?.(items[index]!))),
  ].join('\n');
}

const sumOf = (widths: readonly number[]) =>
  widths.reduce((sum, one) => sum + one, 0) + GAP.length * (widths.length - 1);

/** A column without a header is a mark, which most items do not have. */
function blocksOf<T>(
  items: readonly T[],
  columns: readonly Column<T>[],
  layout: { width: number; paint: Paint },
): string {
  const detailOf = (item: T, { header, value, color }: Column<T>): Detail => {
    const text = oneLine(String(value(item) ?? ''));
    return [header, text === '' && header === '' ? undefined : text, color?.(item)];
  };
  return items
    .map((item) =>
      detailsOf(
        columns.map((column) => detailOf(item, column)),
        layout,
      ),
    )
    .join('\n\n');
}

function fitted(columns: { whole: boolean; width: number }[], width: number): number[] {
  const widths = columns.map((column) => column.width);
  let over = sumOf(widths) - width;
  while (over > 0) {
    const cuttable = widths.map((one, at) => (columns[at]!.whole || one <= LEAST ? 0 : one));
    const widest = Math.max(...cuttable);
    if (widest === 0) break;
    widths[cuttable.indexOf(widest)]!--;
    over--;
  }
  return widths;
}

/** The text's beginning, with `…` if it has more than `width` columns. */
export function cut(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let kept = '';
  let used = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    const columns = stringWidth(segment);
    if (used + columns > width - 1) break;
    kept += segment;
    used += columns;
  }
  return `${kept}…`;
}
