/** The times for which an automation must have created executions, independent of the service's code; pure. */
import { MINUTE_MS, minutesIn } from './clock.ts';
import type { Span } from './clock.ts';

/** The schedule `<residue>-59/<period> * * * *`. */
export interface Schedule {
  residue: number;
  period: number;
  catchUp: boolean;
}

export const cronOf = ({ residue, period }: Schedule): string => `${residue}-59/${period} * * * *`;

const isDue = ({ residue, period }: Schedule, minute: number) => (minute / MINUTE_MS) % period === residue;

/**
 * Each time that passed counts, and of several times that a step skipped the newest. Times that a step back repeats do
 * not count again, and times before the record do not count. Without `catchUp`, skipped times do not count.
 */
export function dueTimes(schedule: Schedule, spans: readonly Span[]): number[] {
  const due: number[] = [];
  let latest = spans[0]?.from ?? 0;
  for (const span of spans) {
    const minutes = minutesIn(span).filter((minute) => minute > latest && isDue(schedule, minute));
    if (minutes.length === 0) continue;
    latest = minutes.at(-1)!;
    if (!span.isJump) due.push(...minutes);
    else if (schedule.catchUp) due.push(latest);
  }
  return due;
}

export interface TimesVerdict {
  missing: number[];
  /** Times with an execution that were not due. */
  extra: number[];
  /** Times with more than one execution. */
  repeated: number[];
}

export function judgeTimes(due: readonly number[], made: readonly number[]): TimesVerdict {
  const wanted = new Set(due);
  const seen = new Set(made);
  return {
    missing: due.filter((time) => !seen.has(time)),
    extra: [...seen].filter((time) => !wanted.has(time)),
    repeated: made.filter((time, i) => made.indexOf(time) !== i),
  };
}
