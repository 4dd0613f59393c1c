/** Search in a log: which lines have a text, kept up while the log grows. */
import type { AnsiLine } from '../../code/ansi.ts';

/** Without regard to case. Returns the same array while the query is the same. */
export class LineSearch {
  #query = '';
  #found: number[] = [];
  #seen = 0;

  /** Indexes of the lines that have `query`. The last line may have changed since. */
  linesWith(lines: readonly AnsiLine[], query: string): readonly number[] {
    const wanted = query.toLowerCase();
    if (wanted !== this.#query || lines.length < this.#seen) {
      this.#query = wanted;
      this.#found = [];
      this.#seen = 0;
    }
    if (wanted === '') return this.#found;
    // The line that was last is read again.
    let at = Math.max(0, this.#seen - 1);
    while ((this.#found.at(-1) ?? -1) >= at) this.#found.pop();
    for (; at < lines.length; at++) if (has(lines[at]!, wanted)) this.#found.push(at);
    this.#seen = lines.length;
    return this.#found;
  }
}

const has = ({ text }: AnsiLine, wanted: string): boolean =>
  text.length >= wanted.length && text.toLowerCase().includes(wanted);

/** The place in `found` after `line`, or before it; around at the ends. -1 where nothing is found. */
export function nextFound(found: readonly number[], line: number, back: boolean): number {
  if (found.length === 0) return -1;
  const at = back ? found.findLastIndex((one) => one < line) : found.findIndex((one) => one > line);
  if (at >= 0) return at;
  return back ? found.length - 1 : 0;
}
