/**
 * Cron expressions and their times. croner reads expressions and finds dates; this file maps the local times of a
 * zone to instants. A time in the gap of a clock change and a time that occurs twice follow one of two rules:
 *
 * | Minute and hour             | In a gap              | Twice             |
 * | --------------------------- | --------------------- | ----------------- |
 * | fixed (no `*`, `?` or step) | once, at the gap's end | once, at the first |
 * | else, elapsed time          | not at all            | both              |
 *
 * croner has these rules, too, but not for a gap of a whole day, and it calls Intl several times for each time.
 */
import { Cron as Expression } from 'croner';
import type { Field } from '../http/errors.ts';

export interface CronText {
  cron: string;
  /** A name of the IANA time zone database. */
  timeZone: string;
}

export interface Cron {
  timeZone: string;
  isFixed: boolean;
  /** The expression's local times, read as UTC, a calendar without clock changes. */
  local: Expression;
}

const MAX_LENGTH = 1000;
const YEARS = 5;
const LOOKED_AT = 20;
const DAY_MS = 86_400_000;
const FIELDS =
  'minute, hour, day of month, month and day of week, as in "30 2 * * MON-FRI", or a nickname such as @daily';

/**
 * What is wrong with a schedule, with paths below `at`: it must be readable, have a time within five years after `from`,
 * and leave `minSeconds` between any two of its next 20 times.
 */
export function cronFaults(
  at: string,
  text: CronText,
  { from, minSeconds = 0 }: { from: Date; minSeconds?: number },
): Field[] {
  const faults: Field[] = [];
  if (!isTimeZone(text.timeZone))
    faults.push({
      path: `${at}/timeZone`,
      message: 'must be a name of the IANA time zone database, as in Europe/Berlin or UTC',
    });
  const fault = (message: string) => faults.push({ path: `${at}/cron`, message });
  let local: Expression | undefined;
  try {
    local = readExpression(text.cron);
  } catch (error) {
    fault(error instanceof Error ? error.message : String(error));
  }
  if (!local || faults.length) return faults;
  const times = nextTimes(cronOf(local, text.timeZone), from, LOOKED_AT);
  const horizon = new Date(from);
  horizon.setUTCFullYear(from.getUTCFullYear() + YEARS);
  const close = times.findIndex((time, n) => n > 0 && +time - +times[n - 1]! < minSeconds * 1000);
  if (!times.length || times[0]! > horizon) fault(`has no time in the next ${YEARS} years`);
  else if (close > 0)
    fault(
      `must leave at least ${minSeconds} seconds between two times; ${times[close - 1]!.toISOString()} and ${times[close]!.toISOString()} are closer`,
    );
  return faults;
}

/** Throws if `cronFaults` refuses the schedule as unreadable. */
export function readCron({ cron, timeZone }: CronText): Cron {
  if (!isTimeZone(timeZone)) throw new TypeError(`${timeZone} is not a time zone`);
  return cronOf(readExpression(cron), timeZone);
}

/** The next times after `from`, in order; fewer if there are no more within 400 years or before the year 3000. */
export function nextTimes(cron: Cron, from: Date, count: number): Date[] {
  const times: Date[] = [];
  let start = from.getTime() + 1;
  while (times.length < count) {
    const stretch = stretchAt(cron.timeZone, start);
    const { instants, nextStart } = timesWithin(cron, stretch, { start, count: count - times.length });
    times.push(...instants.map((instant) => new Date(instant)));
    if (nextStart === null) break;
    start = nextStart;
  }
  return times;
}

function readExpression(cron: string): Expression {
  const text = cron.trim();
  const count = text.split(/\s+/).length;
  if (cron.length > MAX_LENGTH) throw new TypeError(`must have at most ${MAX_LENGTH} characters`);
  if (text === '' || (count !== 5 && !(text.startsWith('@') && count === 1)))
    throw new TypeError(`must have five fields: ${FIELDS}`);
  // croner takes a `+` before the day of week, after which both days have to match.
  if (text.includes('+'))
    throw new TypeError('must not contain +: if both day fields are set, either one matches');
  try {
    return new Expression(text, { mode: '5-part', utcOffset: 0 });
  } catch (error) {
    throw new TypeError(`is not a cron expression (${reasonOf(error)}). It needs ${FIELDS}`, {
      cause: error,
    });
  }
}

/** croner's message about a value out of range counts days and months from 0. */
const reasonOf = (error: unknown) =>
  (error instanceof Error ? error.message : String(error))
    .replace(/^CronPattern: /, '')
    .replace(/^Invalid value for (\w+):.*/, '$1 is out of range');

function cronOf(local: Expression, timeZone: string): Cron {
  // The pattern of a nickname such as `@hourly` has the five fields.
  const [minute = '', hour = ''] = local.getPattern()!.trim().split(/\s+/);
  return { local, timeZone, isFixed: !/[*?/]/.test(minute + hour) };
}

/** Intl accepts names outside of the database (PST, IST), and Temporal accepts offsets. */
function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return Boolean(new Temporal.ZonedDateTime(0n, name));
  } catch {
    return false;
  }
}

/** A time between two clock changes; all in milliseconds. `offset` is local time minus UTC. */
interface Stretch {
  start: number;
  end: number;
  offset: number;
  /** The offset before `start`. */
  offsetBefore: number;
}

function stretchAt(timeZone: string, instant: number): Stretch {
  const at = (ms: number) => Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timeZone);
  const offsetOf = (time: Temporal.ZonedDateTime) => time.offsetNanoseconds / 1e6;
  const now = at(instant);
  const last = now.add({ nanoseconds: 1 }).getTimeZoneTransition('previous');
  const next = now.getTimeZoneTransition('next');
  return {
    start: last?.epochMilliseconds ?? -Infinity,
    end: next?.epochMilliseconds ?? Infinity,
    offset: offsetOf(now),
    offsetBefore: offsetOf(last ? at(last.epochMilliseconds - 1) : now),
  };
}

/** The times of one stretch from `start` on, and where to continue; null at the end. */
function timesWithin(
  { local, isFixed }: Cron,
  stretch: Stretch,
  { start, count }: { start: number; count: number },
): { instants: number[]; nextStart: number | null } {
  const { offset, offsetBefore, end } = stretch;
  const localFrom = (earliest: number) => local.nextRun(new Date(earliest - 1))?.getTime() ?? Infinity;
  const instants: number[] = [];
  let earliest = Math.max(start, stretch.start) + offset;
  if (isFixed && offset < offsetBefore) earliest = Math.max(earliest, stretch.start + offsetBefore);
  if (isFixed && offset > offsetBefore && start <= stretch.start) {
    if (localFrom(stretch.start + offsetBefore) < earliest) {
      instants.push(stretch.start);
      earliest += 1;
    }
  }
  let next = localFrom(earliest);
  for (; next < end + offset && instants.length < count; next = localFrom(next + 1))
    instants.push(next - offset);
  if (next === Infinity) return { instants, nextStart: null };
  // Times of the last day may come again in the next stretch: no clock goes back by more.
  const mayRepeat = Number.isFinite(end) && localFrom(end + offset - DAY_MS) < end + offset;
  return { instants, nextStart: mayRepeat ? end : Math.max(end, next - offset - 2 * DAY_MS) };
}
