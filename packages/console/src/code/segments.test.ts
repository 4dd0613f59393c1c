import { expect, test } from 'vitest';
import { findIn, segmentsOf } from './segments.ts';

test('colours and marks cut each other; equal neighbours are one', () => {
  const highlights = { lines: Uint32Array.of(0, 2), spans: Uint32Array.of(0, 3, 1, 6, 9, 2) };
  const marks = [
    { className: 'word', ranges: [2, 7] },
    { className: 'found', ranges: [6, 8] },
  ];
  expect(
    segmentsOf('let a "b" c', highlights, 0, marks).map(({ text, className }) => [text, className]),
  ).toEqual([
    ['le', 'tok-keyword'],
    ['t', 'tok-keyword word'],
    [' a ', 'word'],
    ['"', 'tok-string word found'],
    ['b', 'tok-string found'],
    ['"', 'tok-string'],
    [' c', ''],
  ]);
});

test('a line without colours is one piece; colours beyond its end are cut', () => {
  expect(segmentsOf('abc', undefined, -1)).toEqual([{ text: 'abc', className: '' }]);
  expect(segmentsOf('ab', { lines: Uint32Array.of(0, 1), spans: Uint32Array.of(1, 9, 1) }, 0)).toEqual([
    { text: 'a', className: '' },
    { text: 'b', className: 'tok-keyword' },
  ]);
});

test('a search is without regard to case', () => {
  expect(findIn('aBabAB', 'ab')).toEqual([0, 2, 2, 4, 4, 6]);
  expect(findIn('İab', 'ab')).toEqual([]);
});
