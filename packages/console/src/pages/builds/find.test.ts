import { expect, test } from 'vitest';
import { AnsiText } from '../../code/ansi.ts';
import { LineSearch, nextFound } from './find.ts';

test('finds lines without regard to case, also in those that come later or change', () => {
  const log = new AnsiText();
  const search = new LineSearch();
  log.append('an Error\nfine\n\u001b[31mERR\u001b[0mOR again\ner');
  expect(search.linesWith(log.lines, 'error')).toEqual([0, 2]);
  log.append('ror, too\nfine\nerror\rgone');
  expect(search.linesWith(log.lines, 'error')).toEqual([0, 2, 3]);
  expect(search.linesWith(log.lines, 'gone')).toEqual([5]);
  log.append('\rnew');
  expect(search.linesWith(log.lines, 'gone')).toEqual([]);
  expect(search.linesWith(log.lines, '')).toEqual([]);
});

test('goes around at both ends', () => {
  const found = [3, 8, 20];
  expect(nextFound(found, -1, false)).toBe(0);
  expect(nextFound(found, 8, false)).toBe(2);
  expect(nextFound(found, 20, false)).toBe(0);
  expect(nextFound(found, 8, true)).toBe(0);
  expect(nextFound(found, 3, true)).toBe(2);
  expect(nextFound([], 3, true)).toBe(-1);
});
