import { expect, test } from 'vitest';
import { hiddenName, splitHidden } from './hidden.ts';

test('bidi controls, zero-width and control characters are pieces of their own', () => {
  const text = 'a\u202eb\u200bc\u0007\u001b[31m\t\u{e0041}é😀';
  const pieces = splitHidden(text);
  expect(pieces).toEqual(['a', 0x202e, 'b', 0x200b, 'c', 7, 0x1b, '[31m\t', 0xe0041, 'é😀']);
  expect(
    pieces.map((piece) => (typeof piece === 'number' ? String.fromCodePoint(piece) : piece)).join(''),
  ).toBe(text);
});

test('a lone surrogate is a mark', () => {
  expect(splitHidden('a\ud83d')).toEqual(['a', 0xd83d]);
});

test('families of emoji stay whole; a joiner between letters does not hide', () => {
  expect(splitHidden('👩‍💻 ❤️‍🔥')).toEqual(['👩‍💻 ❤️‍🔥']);
  expect(splitHidden('pay\u200dpal')).toEqual(['pay', 0x200d, 'pal']);
});

test('marks have names', () => {
  expect([0x202e, 0xfeff, 0x2063, 0xe0041].map(hiddenName)).toEqual(['RLO', 'BOM', 'U+2063', 'U+E0041']);
});
