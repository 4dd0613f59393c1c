import { expect, test } from 'vitest';
import { allDays, faultOfDays, spanOf, usualDays } from './span.ts';

test('the usual times over the edges of months', () => {
  const said = usualDays(Date.parse('2028-03-01T00:00:00Z')).map(({ from, to }) => [from, to]);
  expect(said).toEqual([
    ['2028-03-01', '2028-03-01'],
    ['2028-02-01', '2028-02-29'],
    ['2028-02-01', '2028-03-01'],
  ]);
});

test('the last day is part of it', () => {
  expect(spanOf({ from: '2026-12-01', to: '2026-12-31' })).toEqual({ from: '2026-12-01', to: '2027-01-01' });
  expect(spanOf({ from: 'x', to: 'y' })).toEqual({ from: 'x', to: 'y' });
  expect(faultOfDays({ from: '2026-12-01', to: '2026-11-30' })).toMatch(/before the first/);
  expect(faultOfDays({ from: '2026-12-32', to: '2026-11-30' })).toMatch(/year, month and day/);
});

test('days without usage are there, too', () => {
  expect(allDays({ from: '2026-02-27', to: '2026-03-01' }, [])).toEqual([
    '2026-02-27',
    '2026-02-28',
    '2026-03-01',
  ]);
  expect(allDays({ from: '0001-01-01', to: '2026-03-01' }, ['2026-02-02', '2026-01-01'])).toEqual([
    '2026-01-01',
    '2026-02-02',
  ]);
});
