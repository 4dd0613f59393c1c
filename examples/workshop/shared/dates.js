// Days are plain `YYYY-MM-DD` strings everywhere: they sort as text, survive JSON
// and have no time zone. A loan is due on a day, never at an instant.

const DAY_MS = 86_400_000;
const DAY = /^(\d{4})-(\d{2})-(\d{2})$/;

/** True when `text` names a day that exists in the calendar. */
export function isDay(text) {
  if (typeof text !== 'string' || !DAY.test(text)) return false;
  const parsed = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(parsed.getTime()) && toDay(parsed) === text;
}

/** The UTC day of a Date. */
export function toDay(date) {
  return date.toISOString().slice(0, 10);
}

function millis(day) {
  if (!isDay(day)) throw new RangeError(`not a day: ${day}`);
  return Date.parse(`${day}T00:00:00Z`);
}

/** `day` moved by `count` days; negative moves back. */
export function addDays(day, count) {
  return toDay(new Date(millis(day) + count * DAY_MS));
}

/** Whole days from `from` to `to`; negative when `to` is earlier. */
export function daysBetween(from, to) {
  return Math.round((millis(to) - millis(from)) / DAY_MS);
}

/** 1 for Monday to 7 for Sunday, as ISO 8601 counts. */
export function weekday(day) {
  return new Date(millis(day)).getUTCDay() || 7;
}

/** True when two closed ranges of days share at least one day. */
export function rangesOverlap(a, b) {
  return a.from <= b.to && b.from <= a.to;
}

/** Every day from `from` to `to`, both included. */
export function eachDay(from, to) {
  const days = [];
  for (let day = from; day <= to; day = addDays(day, 1)) days.push(day);
  return days;
}

/** The month (`YYYY-MM`) that a day is in. */
export function monthOf(day) {
  return day.slice(0, 7);
}

/**
 * Resolves a fixture's day. Fixtures say `today`, `today-12` or `today+3`, so that
 * a demo has overdue and upcoming loans on whatever day it is started.
 */
export function resolveDay(text, today) {
  const relative = /^today(?:([+-])(\d{1,3}))?$/.exec(text);
  if (!relative) return text;
  const [, sign, count = '0'] = relative;
  return addDays(today, sign === '-' ? -Number(count) : Number(count));
}
