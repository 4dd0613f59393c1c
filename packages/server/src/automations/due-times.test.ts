import { describe, expect, test } from 'vitest';
import { readCron } from './cron.ts';
import { dueTimes } from './due-times.ts';

const at = (time: string) => new Date(`2027-03-${time}Z`);
const of = (cron: string, from: string, now: string, catchUp = true) => {
  const { times, next } = dueTimes(readCron({ cron, timeZone: 'UTC' }), {
    from: at(from),
    now: at(now),
    catchUp,
  });
  return [
    ...times.map((time) => time.toISOString().slice(8, 19)),
    '|',
    next?.toISOString().slice(8, 19) ?? 'never',
  ];
};

describe('dueTimes', () => {
  test('a time counts when it is due, and up to five seconds later', () => {
    expect(of('0 * * * *', '10T12:00:00', '10T12:00:00.000', false)).toEqual([
      '10T12:00:00',
      '|',
      '10T13:00:00',
    ]);
    expect(of('0 * * * *', '10T12:00:00', '10T12:00:05.000', false)).toEqual([
      '10T12:00:00',
      '|',
      '10T13:00:00',
    ]);
    expect(of('0 * * * *', '10T12:00:00', '10T12:00:05.001', false)).toEqual(['|', '10T13:00:00']);
  });

  test('of missed times only the newest counts, once, and only with catchUp', () => {
    expect(of('0 * * * *', '10T00:00:00', '10T12:30:00')).toEqual(['10T12:00:00', '|', '10T13:00:00']);
    expect(of('0 * * * *', '10T00:00:00', '10T12:30:00', false)).toEqual(['|', '10T13:00:00']);
    expect(of('0 * * * *', '10T00:00:00', '10T12:00:02')).toEqual([
      '10T11:00:00',
      '10T12:00:00',
      '|',
      '10T13:00:00',
    ]);
    expect(of('0 * * * *', '10T00:00:00', '10T12:00:02', false)).toEqual(['10T12:00:00', '|', '10T13:00:00']);
  });

  test('times that were missed for more than a day do not count', () => {
    expect(of('0 3 * * *', '10T03:00:00', '11T03:00:00')).toEqual([
      '10T03:00:00',
      '11T03:00:00',
      '|',
      '12T03:00:00',
    ]);
    expect(of('0 3 1 * *', '01T03:00:00', '02T03:00:00')).toEqual(['01T03:00:00', '|', '01T03:00:00']);
    expect(of('0 3 1 * *', '01T03:00:00', '02T03:00:01')).toEqual(['|', '01T03:00:00']);
  });

  test('for months of a frequent schedule, it reads only the last day', () => {
    expect(of('* * * * *', '01T00:00:00', '30T12:30:30')).toEqual(['30T12:30:00', '|', '30T12:31:00']);
  });

  test('the announced time counts, also if the schedule no longer has it or has no further times', () => {
    expect(of('0 0 29 2 *', '10T12:34:56', '10T12:34:56')).toEqual(['10T12:34:56', '|', '29T00:00:00']);
  });
});
