/** Lines of a terminal. */
import stringWidth from 'fast-string-width';

const segmenter = new Intl.Segmenter();

/** The line cut into rows of at most `columns`: wide characters stay whole. An empty line is one row. Tabs are spaces. */
export function rowsOf(line: string, columns: number): string[] {
  const text = line.replaceAll('\t', '    ');
  if (stringWidth(text) <= columns) return [text];
  const rows: string[] = [];
  let row = '';
  let used = 0;
  for (const { segment } of segmenter.segment(text)) {
    const width = stringWidth(segment);
    if (used + width > columns) {
      rows.push(row);
      row = '';
      used = 0;
    }
    row += segment;
    used += width;
  }
  return [...rows, row];
}

/** The last rows of a text: of a long one, only the end is read. */
export function lastRows(text: string, { columns, rows }: { columns: number; rows: number }): string[] {
  if (rows <= 0) return [];
  // More than the rows can hold, unless many characters have no width.
  const end = text.slice(-4 * columns * rows).replace(/^[\udc00-\udfff]/, '');
  const lines = end.replace(/\n+$/, '').split('\n').slice(-rows);
  return lines.flatMap((line) => rowsOf(line, columns)).slice(-rows);
}
