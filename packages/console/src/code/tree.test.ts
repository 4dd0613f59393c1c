import { expect, test } from 'vitest';
import { treeRows } from './tree.ts';

const show = (paths: string[], closed: string[] = []) =>
  treeRows(paths, new Set(closed)).map(
    ({ name, depth, isFolder, count, index }) =>
      `${'  '.repeat(depth)}${name}${isFolder ? `/ ${count}` : ` #${index}`}`,
  );

test('folders first; those that hold one folder only are one row', () => {
  expect(show(['b.txt', 'a/x/one.ts', 'a/x/two.ts', 'c/d/e.ts', 'c/f.ts'])).toEqual([
    'a/x/ 2',
    '  one.ts #1',
    '  two.ts #2',
    'c/ 2',
    '  d/ 1',
    '    e.ts #3',
    '  f.ts #4',
    'b.txt #0',
  ]);
});

test('a closed folder keeps its count', () => {
  expect(show(['a/x/one.ts', 'b'], ['a/x'])).toEqual(['a/x/ 1', 'b #1']);
});

test('names of objects are names like others', () => {
  expect(show(['__proto__/constructor', 'toString'])).toEqual([
    '__proto__/ 1',
    '  constructor #0',
    'toString #1',
  ]);
});
