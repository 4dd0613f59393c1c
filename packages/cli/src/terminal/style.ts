/** Colours and symbols, for a stream that shows them. */
import { styleText } from 'node:util';
import type { Io, Terminal } from '../core/io.ts';

export type Color =
  | 'red'
  | 'green'
  | 'yellow'
  | 'blue'
  | 'magenta'
  | 'cyan'
  | 'gray'
  | 'bold'
  | 'dim'
  | 'inverse';
export type Paint = (color: Color, text: string) => string;

/** NO_COLOR wins over everything, then the option, then FORCE_COLOR; else a terminal has colours. */
export function hasColor({ env }: Io, stream: Terminal, isOff: boolean): boolean {
  if (env.NO_COLOR || isOff) return false;
  if (env.FORCE_COLOR) return env.FORCE_COLOR !== '0';
  return stream.isTTY === true && env.TERM !== 'dumb';
}

export const paintFor = (isColored: boolean): Paint =>
  isColored
    ? (color, text) => (text === '' ? '' : styleText(color, text, { validateStream: false }))
    : (_, text) => text;

/** What a status means to the eye. */
const STATUS_COLORS: Readonly<Record<string, Color>> = {
  ready: 'green',
  applied: 'green',
  completed: 'green',
  success: 'green',
  merged: 'green',
  open: 'green',
  delivered: 'green',
  running: 'cyan',
  building: 'cyan',
  queued: 'cyan',
  starting: 'cyan',
  preparing: 'cyan',
  in_progress: 'cyan',
  waiting: 'yellow',
  blocked: 'yellow',
  conflicted: 'yellow',
  pending: 'yellow',
  failed: 'red',
  failure: 'red',
  error: 'red',
  denied: 'red',
  expired: 'red',
  cancelled: 'gray',
  stopped: 'gray',
  archived: 'gray',
  closed: 'gray',
  skipped: 'gray',
  deleted: 'gray',
};
export const statusColor = (status: string): Color => STATUS_COLORS[status] ?? 'bold';
