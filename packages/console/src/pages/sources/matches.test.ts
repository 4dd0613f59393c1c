import type { SearchMatch } from '@headrace/client';
import { expect, test } from 'vitest';
import { filesOf, globFault, globsOf } from './matches.ts';

const match = (some: Partial<SearchMatch>): SearchMatch => ({
  path: 'a.ts',
  line: 1,
  column: 1,
  text: '',
  ranges: [],
  before: [],
  after: [],
  truncated: false,
  ...some,
});

test('lines around several matches stand there once, and gaps are known', () => {
  const [file, other] = filesOf([
    match({ line: 3, text: 'three', before: ['one', 'two'], after: ['four', 'five'] }),
    match({ line: 4, text: 'four', before: ['two', 'three'], after: ['five', 'six'] }),
    match({ line: 20, text: 'twenty', before: ['nineteen'] }),
    match({ path: 'b.ts', line: 1, text: 'x', truncated: true }),
  ]);
  expect(file!.count).toBe(3);
  expect(file!.lines.map(({ number, text, match: is }) => [number, text, is !== null])).toEqual([
    [1, 'one', false],
    [2, 'two', false],
    [3, 'three', true],
    [4, 'four', true],
    [5, 'five', false],
    [6, 'six', false],
    [19, 'nineteen', false],
    [20, 'twenty', true],
  ]);
  expect(file!.lines.filter(({ isAfterGap }) => isAfterGap).map(({ number }) => number)).toEqual([19]);
  expect(other!.lines[0]!.match!.isCut).toBe(true);
});

test('ranges count code points, and may lie behind the text', () => {
  const ranges = [
    { start: 1, end: 2 },
    { start: 3, end: 9 },
    { start: 40, end: 41 },
  ];
  const [file] = filesOf([match({ text: '😀a😀b', ranges })]);
  expect(file!.lines[0]!.match!.ranges).toEqual([2, 3, 5, 6]);
});

test('globs, without spaces between them', () => {
  expect(globsOf(' src/**, *.md ,,')).toBe('src/**,*.md');
  expect(globFault('')).toBeNull();
  expect(globFault(Array.from({ length: 20 }, (_, i) => `${i}`).join(', '))).toBeNull();
  expect(globFault(Array.from({ length: 21 }, (_, i) => `${i}`).join(', '))).toMatch(/At most 20/);
  expect(globFault('x'.repeat(257))).toMatch(/256/);
});
