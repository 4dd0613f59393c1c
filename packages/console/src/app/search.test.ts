import { describe, expect, test } from 'vitest';
import { BadSearch, flag, lines, search, text, word } from './search.ts';

const read = search({ file: text, L: lines, view: word('unified', 'split'), wrap: flag });

describe('what an address may say', () => {
  test('known parameters are read; what is not given stays out', () => {
    expect(read({ file: 'a b', L: '12-20', view: 'split', wrap: true })).toEqual({
      file: 'a b',
      L: '12-20',
      view: 'split',
      wrap: true,
    });
    expect(read({ file: undefined })).toEqual({});
  });

  test('a line, a file or a flag that the router has read as a number', () => {
    expect(read({ L: 12, file: 2026, wrap: 0 })).toEqual({ L: '12', file: '2026', wrap: false });
  });

  test.each([
    ['view', { view: 'sideways' }],
    ['other', { other: 'x' }],
    ['L', { L: '0' }],
    ['L', { L: '12-' }],
    ['L', { L: { a: 1 } }],
    ['wrap', { wrap: 'yes' }],
    ['file', { file: ['a'] }],
    ['toString', { toString: 'x' }],
  ])('%s is named when it is not understood: %j', (param, given) => {
    expect(() => read(given)).toThrow(expect.objectContaining({ param }));
    expect(() => read(given)).toThrow(BadSearch);
  });

  test('the words that it may have are said', () => {
    expect(() => read({ view: 'x' })).toThrow('unified, split');
  });
});
