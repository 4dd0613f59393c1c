import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cronFaults, nextTimes, readCron } from './cron.ts';

const timesOf = (cron: string, timeZone: string, from: string, count: number) =>
  nextTimes(readCron({ cron, timeZone }), new Date(from), count).map((time) =>
    time.toISOString().slice(0, 16),
  );

describe('the next times', () => {
  test.each([
    ['15 4 * * *', 'UTC', '2027-01-01T04:15:00.000Z', '2027-01-02T04:15'],
    ['15 4 * * *', 'UTC', '2027-01-01T04:14:59.999Z', '2027-01-01T04:15 2027-01-02T04:15'],
    ['0 0 13 * Fri', 'UTC', '2027-08-01T00:00Z', '2027-08-06T00:00 2027-08-13T00:00 2027-08-20T00:00'],
    ['0 0 L * ?', 'UTC', '2028-01-31T12:00Z', '2028-02-29T00:00 2028-03-31T00:00'],
    ['0 0 1W,15 feb *', 'UTC', '2026-01-01T00:00Z', '2026-02-02T00:00 2026-02-15T00:00 2027-02-01T00:00'],
    ['0 0 31W * *', 'UTC', '2027-01-31T00:00Z', '2027-03-31T00:00 2027-05-31T00:00 2027-07-30T00:00'],
    ['0 0 ? * FRI-SUN#1', 'UTC', '2027-01-01T00:00Z', '2027-01-02T00:00 2027-01-03T00:00 2027-02-05T00:00'],
    ['0 0 29 2 *', 'UTC', '2095-01-01T00:00Z', '2096-02-29T00:00 2104-02-29T00:00'],
    ['@hourly', 'Asia/Kathmandu', '2027-01-01T00:00Z', '2027-01-01T00:15 2027-01-01T01:15'],
    ['@midnight', 'Asia/Tokyo', '2027-01-01T00:00Z', '2027-01-01T15:00 2027-01-02T15:00'],
    ['@annually', 'UTC', '2027-01-01T00:00Z', '2028-01-01T00:00 2029-01-01T00:00'],
    // In a gap: once at its end, with what is due then; elapsed time has none.
    ['30 2 * * *', 'Europe/Berlin', '2027-03-27T12:00Z', '2027-03-28T01:00 2027-03-29T00:30'],
    [
      '10,50 2,3 * * *',
      'Europe/Berlin',
      '2027-03-28T00:00Z',
      '2027-03-28T01:00 2027-03-28T01:10 2027-03-28T01:50',
    ],
    ['0 2,3 * * *', 'Europe/Berlin', '2027-03-28T00:00Z', '2027-03-28T01:00 2027-03-29T00:00'],
    ['30 2 * * *', 'Europe/Berlin', '2027-03-28T01:00Z', '2027-03-29T00:30'],
    ['30 2 * * *', 'Europe/Berlin', '2027-03-28T00:59:59.999Z', '2027-03-28T01:00'],
    ['30 */1 * * *', 'Europe/Berlin', '2027-03-28T00:30Z', '2027-03-28T01:30'],
    ['0 0 * * *', 'Africa/Cairo', '2027-04-29T12:00Z', '2027-04-29T22:00 2027-04-30T21:00'],
    [
      '30 12 * * *',
      'Pacific/Apia',
      '2011-12-29T00:00Z',
      '2011-12-29T22:30 2011-12-30T10:00 2011-12-30T22:30',
    ],
    ['30 * * * *', 'Pacific/Apia', '2011-12-30T09:00Z', '2011-12-30T09:30 2011-12-30T10:30'],
    ['15 2 * * *', 'Australia/Lord_Howe', '2027-10-02T12:00Z', '2027-10-02T15:30 2027-10-03T15:15'],
    // Twice: fixed times at the first, elapsed time at both.
    ['30 2 * * *', 'Europe/Berlin', '2027-10-30T12:00Z', '2027-10-31T00:30 2027-11-01T01:30'],
    ['30 2 * * *', 'Europe/Berlin', '2027-10-31T01:15Z', '2027-11-01T01:30'],
    [
      '30 ? * * *',
      'Europe/Berlin',
      '2027-10-31T00:00Z',
      '2027-10-31T00:30 2027-10-31T01:30 2027-10-31T02:30',
    ],
    [
      '*/30 23 */4 2 *',
      'America/Sao_Paulo',
      '2018-02-17T23:00Z',
      '2018-02-18T01:00 2018-02-18T01:30 2018-02-18T02:00 2018-02-18T02:30 2018-02-22T02:00',
    ],
    [
      '45 1-2 * * *',
      'Australia/Lord_Howe',
      '2027-04-03T12:00Z',
      '2027-04-03T14:45 2027-04-03T16:15 2027-04-04T15:15',
    ],
  ])('of %s in %s after %s', (cron, timeZone, from, times) => {
    const expected = times.split(' ');
    expect(timesOf(cron, timeZone, from, expected.length)).toEqual(expected);
  });

  test('equal those of a walk over all minutes of the local clock, for any expression, zone and time', () => {
    fc.assert(
      fc.property(expressions, zones, startsOf, fc.nat(3), (expression, timeZone, start, hours) => {
        const from = new Date(Date.parse(start) - hours * 3_600_000);
        const expected = walk(expression, timeZone, from);
        const cron = readCron({ cron: expression.text, timeZone });
        const until = +from + WALKED_MINUTES * 60_000;
        const actual = nextTimes(cron, from, expected.length + 1).filter((time) => +time <= until);
        expect(actual.map((time) => time.toISOString())).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });
});

/** Clock changes forwards and backwards, by an hour, by half of one and by a day, and month ends. */
const zones = fc.constantFrom(
  'Europe/Berlin',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'America/Sao_Paulo',
  'UTC',
);
const startsOf = fc.constantFrom(
  '2027-03-27T23:00Z',
  '2027-10-30T22:00Z',
  '2027-10-02T13:00Z',
  '2027-04-03T13:00Z',
  '2011-12-29T08:00Z',
  '2018-11-03T23:00Z',
  '2018-02-17T23:00Z',
  '2028-02-28T20:00Z',
  '2026-05-30T20:00Z',
);
const WALKED_MINUTES = 36 * 60;

interface LocalTime {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
}
interface Part {
  text: string;
  matches(time: LocalTime): boolean;
}
interface Generated {
  text: string;
  isFixed: boolean;
  matches(time: LocalTime): boolean;
}

const weekdayOf = ({ year, month, day }: LocalTime) => new Date(Date.UTC(year, month - 1, day)).getUTCDay();
const lastDay = ({ year, month }: LocalTime) => new Date(Date.UTC(year, month, 0)).getUTCDate();
const DAYS = ['SUN', 'mon', 'Tue', 'WED', 'THU', 'FRI', 'SAT'];

/** Numbers, lists, ranges and steps of one field. */
const numbers = (key: 'minute' | 'hour' | 'day' | 'month', min: number, max: number): fc.Arbitrary<Part> => {
  const number = fc.integer({ min, max });
  const part = (text: string, has: (value: number) => boolean) => ({
    text,
    matches: (time: LocalTime) => has(time[key]),
  });
  const range = fc.tuple(number, number).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const);
  const step = fc.integer({ min: 1, max: 12 });
  const one = fc.oneof(
    number.map((n) => part(String(n), (value) => value === n)),
    range.map(([a, b]) => part(`${a}-${b}`, (value) => value >= a && value <= b)),
    fc
      .tuple(range, step)
      .map(([[a, b], by]) => part(`${a}-${b}/${by}`, (v) => v >= a && v <= b && (v - a) % by === 0)),
  );
  return fc.oneof(
    fc.constantFrom('*', '?').map((text) => part(text, () => true)),
    step.map((by) => part(`*/${by}`, (value) => (value - min) % by === 0)),
    fc.array(one, { minLength: 1, maxLength: 3 }).map((parts) => ({
      text: parts.map(({ text }) => text).join(','),
      matches: (time: LocalTime) => parts.some(({ matches }) => matches(time)),
    })),
  );
};

/** The weekday that is nearest to a day, without leaving the month; none if the month has no such day. */
function isNearest(time: LocalTime, target: number): boolean {
  if (target > lastDay(time)) return false;
  const weekdays = Array.from({ length: lastDay(time) }, (_, n) => n + 1).filter(
    (day) => weekdayOf({ ...time, day }) % 6,
  );
  return time.day === weekdays.toSorted((a, b) => Math.abs(a - target) - Math.abs(b - target))[0];
}
const specialDays: fc.Arbitrary<Part> = fc.oneof(
  fc.constant({ text: 'L', matches: (time: LocalTime) => time.day === lastDay(time) }),
  fc
    .integer({ min: 1, max: 31 })
    .map((n) => ({ text: `${n}W`, matches: (time: LocalTime) => isNearest(time, n) })),
);
const weekdays: fc.Arbitrary<Part> = fc.oneof(
  fc.constantFrom('*', '?').map((text) => ({ text, matches: () => true })),
  fc.nat(7).map((n) => ({ text: String(n), matches: (time: LocalTime) => weekdayOf(time) === n % 7 })),
  fc.nat(6).map((n) => ({ text: DAYS[n]!, matches: (time: LocalTime) => weekdayOf(time) === n })),
  fc.tuple(fc.nat(6), fc.integer({ min: 1, max: 5 })).map(([n, nth]) => ({
    text: `${DAYS[n]}#${nth}`,
    matches: (time: LocalTime) => weekdayOf(time) === n && Math.ceil(time.day / 7) === nth,
  })),
);

const expressions: fc.Arbitrary<Generated> = fc
  .tuple(
    numbers('minute', 0, 59),
    numbers('hour', 0, 23),
    fc.oneof({ weight: 3, arbitrary: numbers('day', 1, 31) }, specialDays),
    fc.oneof(
      { weight: 3, arbitrary: fc.constant({ text: '*', matches: () => true }) },
      numbers('month', 1, 12),
    ),
    weekdays,
  )
  .map(([minute, hour, day, month, weekday]) => {
    const isAny = ({ text }: Part) => text === '*' || text === '?';
    const isDay = (time: LocalTime) =>
      isAny(day) || isAny(weekday)
        ? day.matches(time) && weekday.matches(time)
        : day.matches(time) || weekday.matches(time);
    return {
      text: [minute, hour, day, month, weekday].map(({ text }) => text).join(' '),
      isFixed: !/[*?/]/.test(minute.text + hour.text),
      matches: (time: LocalTime) =>
        minute.matches(time) && hour.matches(time) && isDay(time) && month.matches(time),
    };
  })
  // Of a day that never is there is no time.
  .filter(({ text }) => cronFaults('', { cron: text, timeZone: 'UTC' }, { from: new Date(0) }).length === 0);

const clocks = new Map<string, Intl.DateTimeFormat>();

/** The local time, as milliseconds of a calendar without clock changes. */
function localTime(timeZone: string, instant: number): number {
  const clock =
    clocks.get(timeZone) ??
    new Intl.DateTimeFormat('sv', { timeZone, dateStyle: 'short', timeStyle: 'short' });
  clocks.set(timeZone, clock);
  return Date.parse(`${clock.format(instant).replace(' ', 'T')}Z`);
}

/** All times of the next one and a half days, minute by minute. */
function walk({ isFixed, matches }: Generated, timeZone: string, from: Date): string[] {
  const isDue = (local: number) => {
    const [year, month, day, hour, minute] = new Date(local).toISOString().split(/\D/).map(Number);
    return matches({ year: year!, month: month!, day: day!, hour: hour!, minute: minute! });
  };
  const found: string[] = [];
  // Fixed times are not repeated: what was on the clock before, counting from a day ago, is over.
  let highest = -Infinity;
  let before = localTime(timeZone, +from - 86_400_000);
  for (let n = -1440; n <= WALKED_MINUTES; n++) {
    const instant = +from + n * 60_000;
    const local = localTime(timeZone, instant);
    let due = isDue(local);
    if (isFixed) {
      due &&= local > highest;
      for (let lost = before + 60_000; lost < local && !due; lost += 60_000)
        due = lost > highest && isDue(lost);
    }
    if (due && n > 0) found.push(new Date(instant).toISOString());
    highest = Math.max(highest, local);
    before = local;
  }
  return found;
}

describe('faults', () => {
  const from = new Date('2027-01-01T00:00Z');
  const pathsOf = (cron: string, timeZone = 'UTC', minSeconds = 300) =>
    cronFaults('/trigger', { cron, timeZone }, { from, minSeconds }).map(({ path }) => path);

  test.each([
    '',
    ' ',
    '* * *',
    '0 3 * * * *',
    '0 0 3 * * * 2027',
    '61 3 * * *',
    '0 25 * * *',
    '0 3 0 * *',
    '0 3 32 * *',

    '0 3 * 0 *',
    '0 3 * * 8',
    '0 3 * * MOON',
    '0 3 * FOO *',
    '@never',
    '@reboot',
    'tomorrow',
    '*/0 3 * * *',

    '0 3 * * 2#6',
    '0 3 * * L',
    '0 3 W * *',
    '0 3 1-5W * *',
    '5-1 3 * * *',
    '0 3 1,, * *',
    '1e1 3 * * *',
    '0 0 1 * +MON',
    '٣ 3 * * *',
    `${'1,'.repeat(500)}1 3 * * *`,
    '2027-01-02T03:04:05',
    '@daily @daily',
  ])('of an invalid expression: %s', (cron) => {
    expect(pathsOf(cron)).toEqual(['/trigger/cron']);
    expect(() => readCron({ cron, timeZone: 'UTC' })).toThrow(TypeError);
  });

  test.each(['', 'Europe/Atlantis', 'Berlin', 'CEST+2', '+02:00', '-00:00', 'Z', 'PST', 'UTC\0', ' UTC'])(
    'of an invalid time zone: %j',
    (timeZone) => {
      expect(pathsOf('0 3 * * *', timeZone)).toEqual(['/trigger/timeZone']);
      expect(() => readCron({ cron: '0 3 * * *', timeZone })).toThrow(TypeError);
    },
  );

  test('of both at once', () => {
    expect(pathsOf('60 * * * *', 'Mars/Olympus')).toEqual(['/trigger/timeZone', '/trigger/cron']);
  });

  test.each(['0 0 30 2 *', '0 0 31 4,6,9,11 *', '0 0 31W 2 *', '0 0 ? 2 MON#5'])(
    'of expressions without a time in the next five years: %s',
    (cron) => expect(pathsOf(cron)).toEqual(['/trigger/cron']),
  );

  test('of times that are too close', () => {
    for (const cron of ['* * * * *', '*/4 * * * *', '58,2 * * * *', '0,4 12 1 1 *'])
      expect(cronFaults('', { cron, timeZone: 'UTC' }, { from, minSeconds: 300 })).toEqual([
        { path: '/cron', message: expect.stringContaining('at least 300 seconds') as string },
      ]);
    expect(pathsOf('*/5 * * * *')).toEqual([]);
    expect(pathsOf('* * * * *', 'UTC', 60)).toEqual([]);
    expect(cronFaults('', { cron: '* * * * *', timeZone: 'UTC' }, { from })).toEqual([]);
    // Half an hour lies between the two times of the clock that goes back.
    expect(pathsOf('45 * * * *', 'Australia/Lord_Howe', 1800)).toEqual([]);
  });

  test('name the field that is out of range', () => {
    const [fault] = cronFaults('/query', { cron: '0 3 32 * *', timeZone: 'UTC' }, { from });
    expect(fault).toEqual({
      path: '/query/cron',
      message: expect.stringContaining('(day is out of range)') as string,
    });
  });
});

test.each(['0001-01-01T00:00Z', '1844-12-30T00:00Z', '2999-12-31T23:00Z', '9999-12-31T23:59:59.999Z'])(
  'any time may be the start, and a search without a result ends: %s',
  (from) => {
    for (const timeZone of ['UTC', 'Asia/Manila', 'Africa/Casablanca'])
      for (const cron of ['0 0 30 2 *', '0 0 30W,31W 2 *', '0 0 ? 2 MON#5', '* * * * *', '30 2 * * *']) {
        const times = nextTimes(readCron({ cron, timeZone }), new Date(from), 50);
        expect(times).toEqual(times.toSorted((a, b) => +a - +b));
        expect(new Set(times.map(Number)).size).toBe(times.length);
      }
  },
);
