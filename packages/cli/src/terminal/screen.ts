/**
 * A terminal with two parts: lines that stay, and below them a few that change. Each change is one write, over what is
 * there: nothing is cleared first, so nothing flickers.
 */
import stringWidth from 'fast-string-width';
import type { Io } from '../core/io.ts';

const ESC = '\u001b[';
/** Terminals that know it show all of a change at once; the others ignore it. */
const BEGIN = `${ESC}?2026h`;
const END = `${ESC}?2026l`;
const ERASE_TO_END_OF_LINE = `${ESC}K`;
const ERASE_BELOW = `${ESC}J`;

const COLUMNS = 80;
const ROWS = 24;

export class Screen {
  readonly #out: Io['stdout'];
  /** As they are on the terminal, above the cursor. */
  #live: readonly string[] = [];

  constructor(out: Io['stdout']) {
    this.#out = out;
  }

  /** For lines that change: the last column stays free, since a cursor there behaves differently everywhere. */
  get size(): { columns: number; rows: number } {
    const { columns = COLUMNS, rows = ROWS } = this.#out;
    return { columns: Math.max(1, columns - 1), rows: Math.max(2, rows) };
  }

  /** Adds lines that stay, and replaces those that change: none wider than the size, and fewer than its rows. */
  draw(staying: readonly string[], live: readonly string[]): void {
    if (staying.length === 0 && live.join('\n') === this.#live.join('\n')) return;
    const up = this.#rowsOnScreen();
    const lines = [...staying, ...live].map((line) => `${line}${ERASE_TO_END_OF_LINE}\n`);
    this.#out.write([BEGIN, up > 0 ? `${ESC}${up}A\r` : '', ...lines, ERASE_BELOW, END].join(''));
    this.#live = live;
  }

  /** A terminal that was made narrower has wrapped them. */
  #rowsOnScreen(): number {
    const columns = this.#out.columns ?? COLUMNS;
    return this.#live.reduce((sum, line) => sum + Math.max(1, Math.ceil(stringWidth(line) / columns)), 0);
  }
}
