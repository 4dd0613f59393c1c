import { expect, test } from 'vitest';
import { ago } from './times.ts';

const NOW = Date.parse('2026-11-23T12:00:00Z');
const [MINUTE, HOUR, DAY] = [60, 3600, 86_400] as const;
const after = (seconds: number) => ago(new Date(NOW + seconds * 1000).toISOString(), NOW);

test.each([
  [0, 'just now', 'just now'],
  [44, 'in a moment', 'just now'],
  [45, 'in 1 minute', '1 minute ago'],
  [89, 'in 1 minute', '1 minute ago'],
  [90, 'in 2 minutes', '2 minutes ago'],
  [59.4 * MINUTE, 'in 59 minutes', '59 minutes ago'],
  [59.5 * MINUTE, 'in 1 hour', '1 hour ago'],
  [23.4 * HOUR, 'in 23 hours', '23 hours ago'],
  [23.5 * HOUR, 'tomorrow', 'yesterday'],
  [13.4 * DAY, 'in 13 days', '13 days ago'],
  [13.5 * DAY, 'in 2 weeks', '2 weeks ago'],
  [59 * DAY, 'in 8 weeks', '8 weeks ago'],
  [60 * DAY, 'in 2 months', '2 months ago'],
  [365 * DAY, 'in 12 months', '12 months ago'],
  [396 * DAY, 'in 13 months', '13 months ago'],
  [715 * DAY, 'in 23 months', '23 months ago'],
  [716 * DAY, 'in 2 years', '2 years ago'],
  [3650 * DAY, 'in 10 years', '10 years ago'],
])('%d seconds are %s, %s', (seconds, ahead, behind) => {
  expect([after(seconds), after(-seconds)]).toEqual([ahead, behind]);
});

test('a moment more or less changes no words of a whole number of units', () => {
  for (const seconds of [5 * MINUTE, 3 * HOUR, 10 * DAY, 90 * DAY, 365 * DAY])
    expect(new Set([-20, 0, 20].map((moment) => after(seconds + moment)))).toHaveProperty('size', 1);
});

test('no time is a dash, and what is no time stays', () => {
  expect([ago(null), ago('soon')]).toEqual(['-', 'soon']);
});
