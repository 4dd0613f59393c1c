import { describe, expect, test } from 'vitest';
import {
  DiffCache,
  bodyHeight,
  bodyOf,
  findNext,
  foldedAtFirst,
  guessBody,
  heightsOf,
  sideOf,
} from './diff-list.ts';
import type { DiffFile } from './diff-list.ts';
import { gitPatches } from './git.fixture.ts';
import { MAX_HEIGHT, ROW, cellsOf, rowAt, rowsBetween, topOf, wrappedHeights } from './heights.ts';

const UNIFIED = { split: false, ignoreSpace: false };

function file(path: string, more: Partial<DiffFile> = {}): DiffFile {
  return { path, status: 'modified', binary: false, additions: 1, deletions: 1, ...more };
}

describe('files', () => {
  test('what is below the head', () => {
    expect(bodyOf(file('a', { patch: '@@ -1 +1 @@\n-a\n+b\n' }))).toBe('rows');
    expect(bodyOf(file('a'))).toBe('missing');
    expect(bodyOf(file('a', { binary: true, additions: 0, deletions: 0 }))).toBe('binary');
    expect(bodyOf(file('a', { truncated: true }))).toBe('truncated');
    expect(bodyOf(file('a', { status: 'renamed', additions: 0, deletions: 0 }))).toBe('unchanged');
  });

  test('the height of an unparsed file is that of its rows', () => {
    const [patch] = gitPatches({ f: 'a\nb\n' }, { f: 'a\nB\n' });
    const one = file('f', { patch: patch! });
    const rows = new DiffCache().rows(one, UNIFIED);
    expect(guessBody(one)).toBe(bodyHeight(heightsOf(rows, null)));
  });

  test('a list that is too high starts with folded files', () => {
    const files = Array.from({ length: 20 }, (_, index) =>
      file(`f${index}`, { additions: 100_000, deletions: 0 }),
    );
    const folded = foldedAtFirst(files);
    const height = files.reduce((sum, one) => sum + (folded.has(one.path) ? 0 : guessBody(one)), 0);
    expect(height).toBeLessThanOrEqual(MAX_HEIGHT);
    expect(folded.has('f0')).toBe(false);
    expect(folded.has('f19')).toBe(true);
  });

  test('a changed patch is parsed again; many files are forgotten', () => {
    const cache = new DiffCache();
    const patch = `@@ -0,0 +1,100000 @@\n${'+a\n'.repeat(100_000)}`;
    const first = cache.rows(file('f', { patch }), UNIFIED);
    expect(cache.rows(file('f', { patch }), UNIFIED)).toBe(first);
    expect(cache.rows(file('f', { patch: `${patch} ` }), UNIFIED)).not.toBe(first);
    const again = cache.rows(file('f', { patch }), UNIFIED);
    for (let index = 0; index < 5; index++) cache.rows(file(`g${index}`, { patch }), UNIFIED);
    expect(cache.rows(file('f', { patch }), UNIFIED)).not.toBe(again);
  });

  test('each side is a text whose lines the rows name', () => {
    const [patch] = gitPatches({ f: 'a\nb\nc\n' }, { f: 'a\nB\nc\n' });
    const rows = new DiffCache().rows(file('f', { patch: patch! }), UNIFIED);
    expect(sideOf(rows, 'old')).toEqual({ text: 'a\nb\nc', lines: Int32Array.of(-1, 0, 1, -1, 2) });
    expect(sideOf(rows, 'new')).toEqual({ text: 'a\nB\nc', lines: Int32Array.of(-1, 0, -1, 1, 2) });
  });

  test('the next line with a text, around the end, in both directions', () => {
    const patches = gitPatches(
      { a: 'x\n', b: 'y\n', c: 'x\n' },
      { a: 'Find\n', b: 'z\n', c: 'find\nfind\n' },
    );
    const files = patches.map((patch, index) => file('abc'[index]!, { patch }));
    const places = [];
    let place = findNext(files, 'find', null);
    for (let count = 0; count < 4; count++, place = findNext(files, 'find', place)) places.push(place);
    expect(places).toEqual([
      { file: 0, row: 2 },
      { file: 2, row: 2 },
      { file: 2, row: 3 },
      { file: 0, row: 2 },
    ]);
    expect(findNext(files, 'find', { file: 0, row: 2 }, true)).toEqual({ file: 2, row: 3 });
    expect(findNext(files, 'nowhere', null)).toBeNull();
    expect(findNext([], 'find', null)).toBeNull();
  });
});

describe('heights', () => {
  test('wrapped rows are found by height', () => {
    const heights = wrappedHeights(5, (row) => row + 1);
    expect([0, 1, 2, 5].map((row) => topOf(heights, row))).toEqual([0, ROW, 3 * ROW, 15 * ROW]);
    expect([0, ROW, 2 * ROW, 3 * ROW, 14 * ROW].map((top) => rowAt(heights, top))).toEqual([0, 1, 1, 2, 4]);
    expect(rowsBetween(heights, -100, -1)).toEqual([0, 0]);
    expect(rowsBetween(heights, 15 * ROW, 99 * ROW)).toEqual([0, 0]);
  });

  test('cells of tabs, wide characters and emoji', () => {
    expect(['abc', '\ta', 'a\tb', '漢字', '😀'].map(cellsOf)).toEqual([3, 5, 5, 4, 2]);
  });
});
