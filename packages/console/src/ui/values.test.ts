import { expect, test } from 'vitest';
import { bytes, dollars, duration, plural, relative } from './values.tsx';

const NOW = Date.UTC(2026, 0, 1, 12);

test.each([
  [0, 'now'],
  [-9_000, 'now'],
  [9_000, 'now'],
  [-30_000, '30 sec. ago'],
  [-59_999, '59 sec. ago'],
  [-60_000, '1 min. ago'],
  [-7_200_000, '2 hr. ago'],
  [-86_400_000, 'yesterday'],
  [3_600_000, 'in 1 hr.'],
])('%i ms from now is %s', (ms, said) => {
  expect(relative(NOW + ms, NOW)).toBe(said);
});

test.each([
  [-5, '0 ms'],
  [850, '850 ms'],
  [1_234, '1.2 s'],
  [59_400, '59 s'],
  [59_960, '60 s'],
  [185_000, '3 min 5 s'],
  [239_900, '4 min 0 s'],
  [7_440_000, '2 h 4 min'],
])('%i ms last %s', (ms, said) => {
  expect(duration(ms)).toBe(said);
});

test('sizes, money and counts', () => {
  expect([bytes(812), bytes(1024), bytes(14_500), bytes(3_300_000), bytes(62_000_000_000)]).toEqual([
    '812 B',
    '1.0 KiB',
    '14 KiB',
    '3.1 MiB',
    '58 GiB',
  ]);
  expect([dollars(0), dollars(1_234), dollars(1_200_000)]).toEqual(['$0.00', '$0.0012', '$1.20']);
  expect([plural(1, 'file'), plural(1_200, 'file'), plural(2, 'branch', 'branches')]).toEqual([
    '1 file',
    '1,200 files',
    '2 branches',
  ]);
});
