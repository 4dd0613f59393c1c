import fc from 'fast-check';
import { expect, test } from 'vitest';
import { diffWords } from './words.ts';

function show(before: string, after: string): [string, string] | null {
  const words = diffWords(before, after);
  return words && [mark(before, words.removed), mark(after, words.added)];
}

function mark(text: string, ranges: number[]): string {
  let marked = '';
  let at = 0;
  for (let index = 0; index < ranges.length; index += 2) {
    marked += `${text.slice(at, ranges[index])}[${text.slice(ranges[index], ranges[index + 1])}]`;
    at = ranges[index + 1]!;
  }
  return marked + text.slice(at);
}

test('words that differ', () => {
  expect(show('const price = 3.20;', 'const price = 3.50;')).toEqual([
    'const price = 3.[20];',
    'const price = 3.[50];',
  ]);
  expect(show('call(first, second)', 'call(first, third, second)')).toEqual([
    'call(first, second)',
    'call(first, [third, ]second)',
  ]);
  expect(show('naïve größe', 'naïve Größe')).toEqual(['naïve [größe]', 'naïve [Größe]']);
});

test('lines with little in common, or very long ones, have no marked words', () => {
  expect(show('return a;', 'import { b } from "c";')).toBeNull();
  expect(show('x '.repeat(2000), 'y '.repeat(2000))).toBeNull();
});

test('what is not marked is equal', () => {
  const line = fc
    .array(fc.constantFrom('a', 'b', 'foo', ' ', '(', '😀', 'é'), { maxLength: 30 })
    .map((words) => words.join(''));
  fc.assert(
    fc.property(line, line, (before, after) => {
      const words = diffWords(before, after);
      if (words === null) return;
      const rest = (text: string, ranges: number[]) => mark(text, ranges).replaceAll(/\[[^\]]*\]/g, '');
      expect(rest(before, words.removed)).toBe(rest(after, words.added));
    }),
  );
});
