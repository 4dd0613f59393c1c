import { addDays, weekday } from './dates.js';

// A library that is closed for longer than this is closed for good: the search for
// the next open day must end even if somebody deletes the whole week.
const HORIZON_DAYS = 60;

/**
 * Opening hours of one day.
 * @param {{week: {day: number, open: string, close: string}[], closures: {date: string}[]}} hours
 * @returns {{open: string, close: string} | null} null when closed
 */
export function hoursOn(hours, day) {
  if (hours.closures.some((closure) => closure.date === day)) return null;
  const number = weekday(day);
  return hours.week.find((row) => row.day === number) ?? null;
}

export function isOpen(hours, day) {
  return hoursOn(hours, day) !== null;
}

/** The first open day that is `day` or later; `day` itself when none is found. */
export function nextOpenDay(hours, day) {
  for (let ahead = 0; ahead <= HORIZON_DAYS; ahead += 1) {
    const candidate = addDays(day, ahead);
    if (isOpen(hours, candidate)) return candidate;
  }
  return day;
}

/** How many open days lie after `from` up to and including `to`. */
export function openDaysAfter(hours, from, to) {
  let count = 0;
  for (let day = addDays(from, 1); day <= to; day = addDays(day, 1)) {
    if (isOpen(hours, day)) count += 1;
  }
  return count;
}
