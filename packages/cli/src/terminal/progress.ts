/** Progress on stderr: a bar in place on a terminal, otherwise a line every 10 s. */
import type { Writable } from 'node:stream';
import type { Terminal } from '../core/io.ts';
import { cut } from './table.ts';

export interface Step {
  text: string;
  done: number;
  /** Null while it is counted: there is no bar then. */
  total: number | null;
}

const TERMINAL_MS = 200;
const LINE_MS = 10_000;
const ERASE_LINE = '\r\u001b[K';
const BAR_COLUMNS = 24;

/** Returns the function that stops it, and removes the bar. */
export function startProgress(out: Writable & Terminal, step: () => Step): () => void {
  const isTerminal = out.isTTY === true;
  let isDrawn = false;
  const draw = () => {
    isDrawn = true;
    out.write(isTerminal ? ERASE_LINE + barLine(step(), out.columns ?? 80) : lineOf(step()));
  };
  const timer = setInterval(draw, isTerminal ? TERMINAL_MS : LINE_MS);
  return () => {
    clearInterval(timer);
    if (isTerminal && isDrawn) out.write(ERASE_LINE);
  };
}

const lineOf = ({ text }: Step) => `${text}\n`;

/** One column less than there are: a full line would wrap. */
function barLine({ text, done, total }: Step, columns: number): string {
  if (total === null || total === 0) return cut(text, columns - 1);
  const part = Math.min(1, done / total);
  const full = Math.round(part * BAR_COLUMNS);
  const bar = `${'█'.repeat(full)}${'░'.repeat(BAR_COLUMNS - full)} ${String(Math.floor(part * 100)).padStart(3)} %  `;
  return cut(columns < BAR_COLUMNS * 2 ? text : bar + text, columns - 1);
}
