import { expect, test } from 'vitest';
import { coarseCounts } from './coarse-counts.ts';

test.each<[string, string, number, number]>([
  ['a\nb\nc\n', 'a\nB\nc\n', 1, 1],
  ['a\nb\nc\n', 'a\nc\n', 0, 1],
  ['a\na\n', 'a\na\na\n', 1, 0],
  ['a\nb', 'a\nb\n', 1, 1],
  ['xa\nb\n', 'a\nb\n', 1, 1],
  ['', 'a\nb', 2, 0],
  ['a\n', '', 0, 1],
  ['1\n2\n3\n4\n5\n', '1\nX\n3\nY\n5\n', 3, 3],
])('%j to %j', (from, to, additions, deletions) => {
  expect(coarseCounts(Buffer.from(from), Buffer.from(to))).toEqual({ additions, deletions });
});
