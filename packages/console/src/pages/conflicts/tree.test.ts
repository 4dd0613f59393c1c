import { expect, test } from 'vitest';
import { carried, takeSide } from './decisions.ts';
import type { Conflict } from './decisions.ts';
import { nextOpen, rowsOf } from './tree.ts';

const conflict = (path: string): Conflict => ({ path, kind: 'content', base: 'b', head: 'h', draft: 'd' });
const LIST = [
  'README.md',
  'src/a/x.ts',
  'src/a/y.ts',
  'src/b.ts',
  'web/deep/only.ts',
  'z/1/2/p',
  'z/1/2/q',
].map(conflict);
const entries = takeSide(carried(LIST, new Map()), LIST, 'src/a/', 'head');

test('a folder has a row where it holds several, and the deepest that holds them all', () => {
  const rows = rowsOf(LIST, entries, false).map((row) => [
    row.depth,
    row.name,
    row.type === 'folder' ? `${row.open}/${row.count}` : '',
  ]);
  expect(rows).toEqual([
    [0, 'README.md', ''],
    [0, 'src/', '1/3'],
    [1, 'a/', '0/2'],
    [2, 'x.ts', ''],
    [2, 'y.ts', ''],
    [1, 'b.ts', ''],
    [0, 'web/deep/only.ts', ''],
    [0, 'z/1/2/', '2/2'],
    [1, 'p', ''],
    [1, 'q', ''],
  ]);
});

test('only those that are open', () => {
  expect(rowsOf(LIST, entries, true).map(({ path }) => path)).toEqual([
    'README.md',
    'src/b.ts',
    'web/deep/only.ts',
    'z/1/2/',
    'z/1/2/p',
    'z/1/2/q',
  ]);
});

test('the next open one is after this one, then from the first', () => {
  expect(nextOpen(LIST, entries, null)).toBe('README.md');
  expect(nextOpen(LIST, entries, 'README.md')).toBe('src/b.ts');
  expect(nextOpen(LIST, entries, 'src/')).toBe('src/b.ts');
  expect(nextOpen(LIST, entries, 'z/1/2/q')).toBe('README.md');
  expect(nextOpen(LIST, takeSide(entries, LIST, 'README.md', 'head'), 'z/1/2/q')).toBe('src/b.ts');
  const all = LIST.reduce((now, { path }) => takeSide(now, LIST, path, 'draft'), entries);
  expect(nextOpen(LIST, all, 'README.md')).toBeNull();
});
