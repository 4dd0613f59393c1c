import { expect, test } from 'vitest';
import type { DiffFile } from '../../code/index.ts';
import { linesOfSearch, searchOfLines } from './address.ts';
import { NOTHING, merge } from './answers.ts';
import { batchOf } from './batch.ts';

const file = (path: string, additions = 1): DiffFile => ({
  path,
  status: 'modified',
  binary: false,
  additions,
  deletions: 0,
});
const paths = (files: DiffFile[], alone: string[] = []) =>
  batchOf(files, new Set(alone)).map(({ path }) => path);

test('a batch has at most 50 files, and as many lines as an answer holds', () => {
  expect(paths(Array.from({ length: 60 }, (_, index) => file(`f${index}`)))).toHaveLength(50);
  expect(paths([file('a', 30_000), file('b', 30_000), file('c')])).toEqual(['a']);
  expect(paths([file('a', 90_000), file('b')])).toEqual(['a']);
  expect(paths([])).toEqual([]);
});

test('a file that did not fit beside others is asked for alone', () => {
  expect(paths([file('a'), file('b'), file('c')], ['b'])).toEqual(['a', 'c']);
  expect(paths([file('b'), file('c')], ['b', 'c'])).toEqual(['b']);
});

test('an answer begins the view even if all of it is to be asked for again, and says what it left out', () => {
  const cut = ['a', 'b'].map((path) => ({ ...file(path), truncated: true }));
  const first = merge(NOTHING, { paths: ['a', 'b', 'c'], files: cut, problem: null }, () => true);
  expect([first.hasBegun, [...first.found.keys()], [...first.problems.keys()]]).toEqual([true, [], ['c']]);
  const failed = merge(first, { paths: ['a'], files: [], problem: 'Too slow.' }, () => false);
  expect(failed.problems.get('a')).toBe('Too slow.');
  const whole = { ...file('a'), patch: '' };
  const last = merge(failed, { paths: ['a'], files: [whole], problem: null }, () => false);
  expect([[...last.found.keys()], [...last.problems.keys()]]).toEqual([['a'], ['c']]);
});

test('lines of an address', () => {
  expect(linesOfSearch('12', undefined)).toEqual({ from: 12, to: 12, side: 'new' });
  expect(linesOfSearch('20-12', 'old')).toEqual({ from: 12, to: 20, side: 'old' });
  expect(linesOfSearch(undefined, undefined)).toBeNull();
  expect(searchOfLines({ from: 3, to: 9, side: 'old' })).toEqual({ L: '3-9', side: 'old' });
  expect(searchOfLines({ from: 3, to: 3, side: 'new' })).toEqual({ L: '3', side: undefined });
});
