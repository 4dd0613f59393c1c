/** Days of UTC, as the page has them: from the first to the last, both included. */
import type { Span } from '../../api/team-queries.ts';

const DAY_MS = 86_400_000;
/** A longer time has gaps where nothing was used. */
const MOST_DAYS = 4_000;

export interface Days {
  from: string;
  to: string;
}

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const firstOf = (day: string): string => `${day.slice(0, 7)}-01`;

/** What can be chosen by one click, as of a time. */
export function usualDays(now: number): (Days & { text: string })[] {
  const today = dayOf(now);
  const before = dayOf(Date.parse(firstOf(today)) - DAY_MS);
  return [
    { text: 'This month', from: firstOf(today), to: today },
    { text: 'Last month', from: firstOf(before), to: before },
    { text: 'Last 30 days', from: dayOf(now - 29 * DAY_MS), to: today },
  ];
}

/** As the service takes them: before the day after the last. What is no day goes as it is, for it says why. */
export function spanOf({ from, to }: Days): Span {
  const last = Date.parse(to);
  return { from, to: isDay(to) ? dayOf(last + DAY_MS) : to };
}

const isDay = (text: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text));

/** What is wrong with the days, in words. */
export function faultOfDays({ from, to }: Days): string | null {
  if (!isDay(from) || !isDay(to)) return 'Give both days as year, month and day.';
  return from > to ? 'The last day is before the first.' : null;
}

/** All days of the time, oldest first; only those with usage where there are too many. */
export function allDays({ from, to }: Days, used: readonly string[]): string[] {
  const [first, last] = [Date.parse(from), Date.parse(to)];
  const length = Math.round((last - first) / DAY_MS) + 1;
  return length > MOST_DAYS
    ? used.toSorted()
    : Array.from({ length: Math.max(0, length) }, (_, i) => dayOf(first + i * DAY_MS));
}
