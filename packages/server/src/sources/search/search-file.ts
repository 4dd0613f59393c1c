/** One file: its lines that match, from a line on. */
import type { Frame } from './frames.ts';
import { matchLine, MAX_TEXT, shortened } from './match-line.ts';
import type { Pattern } from './pattern.ts';
import type { Line } from './protocol.ts';

const [LF, CR] = [10, 13];
/** Lines between two looks at the clock. */
const STRIDE = 256;
/** Characters times instructions of a line that may take a quarter of a second, without a look at the clock. */
const SLOW_WORK = 4_000_000;

/** Of UTF-8, these have all the characters of a line that are sent. */
const MAX_TEXT_BYTES = MAX_TEXT * 4;

/** A file in its frame. */
export interface FilePart {
  frame: Frame;
  start: number;
  end: number;
}

interface Search {
  pattern: Pattern;
  context: number;
  /** Lines that are done. */
  line: number;
  limit: number;
  /** Whether the page is over. */
  isLate: () => boolean;
  /** Whether the job is, which others wait for. */
  isDue: () => boolean;
  /** Whether the line that the search begins with has all the time there is. */
  isPatient: boolean;
}

export interface FileMatches {
  matches: Line[];
  /** Lines that are done, where the search ended before the file. */
  rest: number | null;
}

/** Ends early at the limit, when it is due, or before a line that may take too long for what is left. */
export function searchFile(file: FilePart, search: Search): FileMatches {
  const { pattern, limit, isLate, isDue } = search;
  const { frame, end } = file;
  const cursor = new LineCursor(file);
  cursor.skip(search.line);
  const matches: Line[] = [];
  for (let looks = 1; cursor.at < end; looks++) {
    if (frame.candidate) {
      const candidate = frame.candidate(cursor.at);
      if (candidate < 0 || candidate >= end) break;
      cursor.moveTo(candidate);
    }
    const isFirst = search.isPatient && cursor.line === search.line;
    if (!isFirst && (looks % STRIDE === 0 || matches.length > 0) && isDue())
      return { matches, rest: cursor.line };
    const text = cursor.text();
    if (!isFirst && text.length * pattern.regex.programSize() > SLOW_WORK)
      return { matches, rest: cursor.line };
    const match = matchLine(pattern.regex, text, isFirst ? isLate : isDue);
    // What such a line has beyond its first ranges is for a job that begins with it.
    if (match && !isFirst && isDue()) return { matches, rest: cursor.line };
    if (match) {
      const around = { before: cursor.before(search.context), after: cursor.after(search.context) };
      matches.push({ line: cursor.line + 1, ...match, ...cursor.shown(text), ...around });
    }
    cursor.next();
    if (matches.length === limit) return { matches, rest: cursor.line };
  }
  return { matches, rest: null };
}

/** Walks over the lines of a file. What is behind the last `\n` is a line if it is not empty. */
class LineCursor {
  /** Where the line begins. */
  at: number;
  /** Lines before it. */
  line = 0;
  readonly #bytes: Buffer;
  readonly #start: number;
  readonly #end: number;
  /** Where the line ends; null: not known yet. */
  #lineEnd: number | null = null;

  constructor({ frame, start, end }: FilePart) {
    this.#bytes = frame.bytes;
    this.#start = start;
    this.#end = end;
    this.at = start;
  }

  skip(lines: number): void {
    while (this.line < lines && this.at < this.#end) this.next();
  }

  next(): void {
    this.at = this.#endOf() + 1;
    this.line++;
    this.#lineEnd = null;
  }

  /** To the line that has the byte at `index`, which is not before this line. */
  moveTo(index: number): void {
    for (let i = this.at; i < index; i++) {
      if (this.#bytes[i] !== LF) continue;
      this.line++;
      this.at = i + 1;
      this.#lineEnd = null;
    }
  }

  text(): string {
    return this.#decode(this.at, this.#endOf());
  }

  /** The line as it is sent. What is cut is decoded by itself, since a part of a text keeps all of it. */
  shown(text: string): { text: string; truncated: boolean } {
    if (this.#endOf() - this.at <= MAX_TEXT_BYTES + 1) return shortened(text);
    return { text: this.#shortAt(this.at, this.#endOf()), truncated: true };
  }

  before(count: number): string[] {
    const lines: string[] = [];
    for (let at = this.at; lines.length < count && at > this.#start;) {
      const end = at - 1;
      at = end > this.#start ? Math.max(this.#bytes.lastIndexOf(LF, end - 1) + 1, this.#start) : this.#start;
      lines.unshift(this.#shortAt(at, end));
    }
    return lines;
  }

  after(count: number): string[] {
    const lines: string[] = [];
    for (let at = this.#endOf() + 1; lines.length < count && at < this.#end;) {
      const end = this.#lineEndFrom(at);
      lines.push(this.#shortAt(at, end));
      at = end + 1;
    }
    return lines;
  }

  #endOf(): number {
    return (this.#lineEnd ??= this.#lineEndFrom(this.at));
  }

  #lineEndFrom(at: number): number {
    const found = this.#bytes.indexOf(LF, at);
    return found < 0 || found > this.#end ? this.#end : found;
  }

  /** What more bytes say is cut off in any case. */
  #shortAt(at: number, end: number): string {
    if (end - at <= MAX_TEXT_BYTES + 1) return shortened(this.#decode(at, end)).text;
    return shortened(this.#bytes.toString('utf8', at, at + MAX_TEXT_BYTES)).text;
  }

  /** A `\r` before `\n` is no part of the line; one at the end of the file is. */
  #decode(at: number, end: number): string {
    const isCut = end < this.#end && end > at && this.#bytes[end - 1] === CR;
    return this.#bytes.toString('utf8', at, isCut ? end - 1 : end);
  }
}
