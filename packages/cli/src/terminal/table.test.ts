import stringWidth from 'fast-string-width';
import { expect, test } from 'vitest';
import { paintFor } from './style.ts';
import { tableOf } from './table.ts';
import type { Column } from './table.ts';

interface Thing {
  id: string;
  title: string;
  count: number | null;
  isMarked: boolean;
}
const COLUMNS: readonly Column<Thing>[] = [
  { header: 'ID', value: ({ id }) => id, whole: true },
  { header: '', value: ({ isMarked }) => (isMarked ? '*' : '') },
  { header: 'TITLE', value: ({ title }) => title },
  { header: 'COUNT', value: ({ count }) => count, right: true },
];
const THINGS: readonly Thing[] = [
  { id: 'thr_01jd8x3q5tfz', title: 'A rather long title, with 表意文字 in it', count: 7, isMarked: true },
  { id: 'thr_02jd8x3q5tfz', title: 'b\u001b[2J\nc', count: null, isMarked: false },
];
const shown = (width: number | null) =>
  tableOf(THINGS, COLUMNS, { width, paint: paintFor(false) }).split('\n');

test('the widest cells are cut to fit, ids never, and numbers are aligned to the right', () => {
  const lines = shown(50);
  expect(lines).toEqual([
    'ID                   TITLE                   COUNT',
    'thr_01jd8x3q5tfz  *  A rather long title, …      7',
    'thr_02jd8x3q5tfz     b␛[2J c                     -',
  ]);
  for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(50);
});

test('where cutting is not enough, each item is a block', () => {
  expect(shown(30)).toEqual([
    'ID     thr_01jd8x3q5tfz',
    '       *',
    'TITLE  A rather long title,',
    '       with 表意文字 in it',
    'COUNT  7',
    '',
    'ID     thr_02jd8x3q5tfz',
    'TITLE  b␛[2J c',
    'COUNT  -',
  ]);
});

test('without a terminal, an item is a line with tabs and whole cells', () => {
  expect(shown(null)).toEqual([
    'thr_01jd8x3q5tfz\t*\tA rather long title, with 表意文字 in it\t7',
    'thr_02jd8x3q5tfz\t\tb␛[2J c\t-',
  ]);
});
