// RFC 4180, with one addition: a cell that a spreadsheet would run as a formula gets an
// apostrophe, because members choose their own names.

const FORMULA = /^[=+\-@\t\r]/;

function cell(value) {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'string' && FORMULA.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * @param {string[]} columns field names, written as the first line
 * @param {object[]} rows
 * @returns {string} lines ended by CRLF
 */
export function toCsv(columns, rows) {
  const lines = [columns, ...rows.map((row) => columns.map((column) => row[column]))];
  return lines.map((line) => `${line.map(cell).join(',')}\r\n`).join('');
}
