/**
 * A git patch of one file as rows. Rows are numbers in typed arrays and point into the text of the patch:
 * 200,000 lines cost no object each. Text that is no patch, or a part of one, gives the rows that it has.
 */
export const HUNK = 0;
export const CONTEXT = 1;
export const REMOVED = 2;
export const ADDED = 3;

export interface Patch {
  text: string;
  length: number;
  kind: Uint8Array;
  /** Line numbers from 1; 0 where a row has none. A hunk has those of its first lines. */
  oldLine: Uint32Array;
  newLine: Uint32Array;
  /** Where the row's text starts and ends, without the sign and the line feed. */
  from: Uint32Array;
  to: Uint32Array;
  /** 1 where "\ No newline at end of file" follows. */
  noEnd: Uint8Array;
}

const HEADER = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@ ?/;
const [SPACE, PLUS, MINUS, BACKSLASH, AT] = [32, 43, 45, 92, 64];

/** Upper bound of the rows of a patch, for a fraction of the time of parsing it. */
export function countRows(text: string): number {
  const start = firstHunk(text);
  if (start < 0) return 0;
  let count = text.endsWith('\n') ? 0 : 1;
  for (let at = text.indexOf('\n', start); at >= 0; at = text.indexOf('\n', at + 1)) count++;
  return count;
}

/** Rows of a unified patch of one file; never throws. */
export function parsePatch(text: string): Patch {
  const rows = emptyPatch(text, countRows(text));
  let at = firstHunk(text);
  let [oldLine, newLine, oldLeft, newLeft] = [0, 0, 0, 0];
  while (at >= 0 && at < text.length) {
    let end = text.indexOf('\n', at);
    if (end < 0) end = text.length;
    const sign = end === at ? SPACE : text.charCodeAt(at);
    if (sign === BACKSLASH) {
      const last = rows.length - 1;
      if (last >= 0 && rows.kind[last] !== HUNK) rows.noEnd[last] = 1;
    } else if (oldLeft > 0 || newLeft > 0) {
      if (sign === SPACE && oldLeft > 0 && newLeft > 0) {
        push(rows, CONTEXT, at + (end > at ? 1 : 0), end);
        setLines(rows, oldLine++, newLine++);
        oldLeft--;
        newLeft--;
      } else if (sign === MINUS && oldLeft > 0) {
        push(rows, REMOVED, at + 1, end);
        setLines(rows, oldLine++, 0);
        oldLeft--;
      } else if (sign === PLUS && newLeft > 0) {
        push(rows, ADDED, at + 1, end);
        setLines(rows, 0, newLine++);
        newLeft--;
      } else {
        // The hunk is cut: what follows may be another one.
        oldLeft = newLeft = 0;
        continue;
      }
    } else if (sign === AT) {
      // Git cuts the heading at 80 bytes; hostile ones are cut here.
      const header = HEADER.exec(text.slice(at, Math.min(end, at + 200)));
      if (header !== null) {
        oldLeft = Number(header[2] ?? 1);
        newLeft = Number(header[4] ?? 1);
        // An empty side names the line before it.
        oldLine = Number(header[1]) + (oldLeft === 0 ? 1 : 0);
        newLine = Number(header[3]) + (newLeft === 0 ? 1 : 0);
        push(rows, HUNK, at, end);
        setLines(rows, oldLine, newLine);
      }
    }
    at = end + 1;
  }
  return rows;
}

/** The text of row `index`, without its sign. */
export function rowText(patch: Patch, index: number): string {
  return patch.text.slice(patch.from[index], patch.to[index]);
}

function firstHunk(text: string): number {
  if (text.startsWith('@@ ')) return 0;
  const at = text.indexOf('\n@@ ');
  return at < 0 ? -1 : at + 1;
}

function emptyPatch(text: string, capacity: number): Patch {
  return {
    text,
    length: 0,
    kind: new Uint8Array(capacity),
    oldLine: new Uint32Array(capacity),
    newLine: new Uint32Array(capacity),
    from: new Uint32Array(capacity),
    to: new Uint32Array(capacity),
    noEnd: new Uint8Array(capacity),
  };
}

function push(rows: Patch, kind: number, from: number, to: number): void {
  const index = rows.length++;
  rows.kind[index] = kind;
  rows.from[index] = from;
  rows.to[index] = to;
}

function setLines(rows: Patch, oldLine: number, newLine: number): void {
  rows.oldLine[rows.length - 1] = oldLine;
  rows.newLine[rows.length - 1] = newLine;
}
