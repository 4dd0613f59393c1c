/** The clock that the service's processes go by: this machine's, and what it was moved by. */
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const PRELOAD = join(import.meta.dirname, 'moved-clock.ts');
export const MINUTE_MS = 60_000;

/** Time that passed, or was jumped over. */
export interface Span {
  from: number;
  to: number;
  isJump: boolean;
}

export interface TestedClock {
  file: string;
  now(): number;
  /** Steps to a time, also back. */
  stepTo(time: number): void;
  /** Steps to a time at which the account begins. */
  beginAt(time: number): void;
  /** All that this clock did from there until now, in order. */
  spans(): Span[];
  /** When this machine's clock was at a time that passed by itself; null: it was jumped over. */
  realTimeOf(time: number): number | null;
}

export function startClock(folder: string): TestedClock {
  const file = join(folder, 'clock');
  let offset = 0;
  let since = Date.now();
  const past: (Span & { offset: number })[] = [];
  const now = () => Date.now() + offset;
  const write = () => {
    writeFileSync(`${file}.new`, String(offset));
    renameSync(`${file}.new`, file);
  };
  write();
  const moveTo = (time: number) => {
    offset = time - Date.now();
    since = time;
    write();
  };
  const passed = () => ({ from: since, to: now(), isJump: false, offset });
  return {
    file,
    now,
    stepTo(time) {
      past.push(passed(), { from: now(), to: time, isJump: true, offset });
      moveTo(time);
    },
    beginAt(time) {
      past.length = 0;
      moveTo(time);
    },
    spans: () => [...past, passed()],
    realTimeOf(time) {
      const span = [...past, passed()].find(({ from, to, isJump }) => !isJump && from < time && time <= to);
      return span ? time - span.offset : null;
    },
  };
}

/** The whole minutes of a span that goes on. */
export function minutesIn({ from, to }: Span): number[] {
  const minutes: number[] = [];
  for (let at = Math.floor(from / MINUTE_MS) * MINUTE_MS + MINUTE_MS; at <= to; at += MINUTE_MS)
    minutes.push(at);
  return minutes;
}
