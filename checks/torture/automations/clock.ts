/** The clock of the service's processes: this machine's clock plus an offset. */
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const PRELOAD = join(import.meta.dirname, 'moved-clock.ts');
export const MINUTE_MS = 60_000;

/** A span of time that passed or was skipped by a step. */
export interface Span {
  from: number;
  to: number;
  isJump: boolean;
}

export interface TestedClock {
  file: string;
  now(): number;
  /** Steps to a time, forward or back. */
  stepTo(time: number): void;
  /** Steps to a time at which the record of spans begins. */
  beginAt(time: number): void;
  /** All spans since the start of the record, in order. */
  spans(): Span[];
  /** The time of this machine's clock at a time that passed; null if a step skipped it. */
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

/** The whole minutes of a span. */
export function minutesIn({ from, to }: Span): number[] {
  const minutes: number[] = [];
  for (let at = Math.floor(from / MINUTE_MS) * MINUTE_MS + MINUTE_MS; at <= to; at += MINUTE_MS)
    minutes.push(at);
  return minutes;
}
