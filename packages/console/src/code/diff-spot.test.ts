import { expect, test } from 'vitest';
import { diffRows } from './diff-rows.ts';
import { HEAD, lineAt, nextSpot, spotNow } from './diff-spot.ts';
import { gitPatches } from './git.fixture.ts';

const [patch] = gitPatches({ f: 'a\nb\nc\n' }, { f: 'a\nB\nc\n' });
// The hunk, a, −b, +B, c.
const rows = diffRows(patch!, { split: false, ignoreSpace: false });
/** The second of three files is folded. */
const files: Parameters<typeof nextSpot>[2] = [3, (file) => (file === 1 ? null : rows)];

test('the keys pass heads and lines, not the texts between hunks, and stop at the ends', () => {
  expect(nextSpot({ file: 0, row: HEAD }, 1, files)).toEqual({ file: 0, row: 1 });
  expect(nextSpot({ file: 0, row: 1 }, -1, files)).toEqual({ file: 0, row: HEAD });
  expect(nextSpot({ file: 0, row: 4 }, 1, files)).toEqual({ file: 1, row: HEAD });
  expect(nextSpot({ file: 2, row: HEAD }, -1, files)).toEqual({ file: 1, row: HEAD });
  expect(nextSpot({ file: 0, row: HEAD }, 100, files)).toEqual({ file: 2, row: 4 });
  expect(nextSpot({ file: 2, row: 4 }, -100, files)).toEqual({ file: 0, row: HEAD });
});

test('a row has the line of the side that is asked for, else of the other', () => {
  const at = (row: number, side: 'old' | 'new') => lineAt(rows, row, side);
  expect([at(1, 'new'), at(1, 'old')]).toEqual([
    { line: 1, side: 'new' },
    { line: 1, side: 'old' },
  ]);
  expect(at(2, 'new')).toEqual({ line: 2, side: 'old' });
  expect(at(3, 'old')).toEqual({ line: 2, side: 'new' });
});

test('a spot follows the rows that there are: to the head of a folded or shorter file, past the text of a hunk', () => {
  const now = (file: number, row: number) => spotNow({ file, row }, files[1]);
  expect(now(0, 2)).toEqual({ file: 0, row: 2 });
  expect(now(0, 0)).toEqual({ file: 0, row: 1 });
  expect(now(0, 5)).toEqual({ file: 0, row: HEAD });
  expect(now(1, 2)).toEqual({ file: 1, row: HEAD });
});
