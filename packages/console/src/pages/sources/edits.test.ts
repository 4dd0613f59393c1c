import { expect, test } from 'vitest';
import { withLineEnds } from './edits.ts';
import { imageType } from './image-type.ts';

test('an edited file keeps its line ends', () => {
  expect(withLineEnds('a\nb\n', 'a\r\nc\r\n')).toBe('a\r\nb\r\n');
  expect(withLineEnds('a\nb\n', 'a\n')).toBe('a\nb\n');
  // Mixed ones cannot be kept: which line is which?
  expect(withLineEnds('a\nb\n', 'a\r\nb\n')).toBe('a\nb\n');
  expect(withLineEnds('a\n', undefined)).toBe('a\n');
});

test('pictures are known by their ending', () => {
  expect([imageType('a/LOGO.PNG'), imageType('a.svg'), imageType('Makefile')]).toEqual([
    'image/png',
    null,
    null,
  ]);
});
