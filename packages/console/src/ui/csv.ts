/** Tables for other programs. */
import { saveFile } from './save-file.ts';

type Cell = string | number | null;

/** A text that a spreadsheet would take for a formula is marked as text. */
const cellOf = (cell: Cell): string => {
  if (typeof cell === 'number') return String(cell);
  const text = /^[=+\-@\t\r]/.test(cell ?? '') ? `'${cell}` : (cell ?? '');
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** Comma-separated values (RFC 4180). */
export const csvOf = (head: readonly string[], rows: readonly (readonly Cell[])[]): string =>
  [head, ...rows].map((row) => `${row.map(cellOf).join(',')}\r\n`).join('');

/** Gives the browser a table to save. */
export const saveCsv = (name: string, text: string): void =>
  saveFile(name, new Blob([text], { type: 'text/csv;charset=utf-8' }));
