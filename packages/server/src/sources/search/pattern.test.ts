import { describe, expect, test } from 'vitest';
import { compile, PatternFault } from './pattern.ts';
import { QUERY } from './search.fixture.ts';

const candidates = (q: string, text: string, caseSensitive = true) => {
  const { openFinder } = compile({ ...QUERY, q, regex: true, caseSensitive });
  if (!openFinder) return null;
  const find = openFinder(Buffer.from(text));
  const found: number[] = [];
  for (let at = find(0); at >= 0; at = find(at + 1)) found.push(at);
  return found;
};

describe('the texts that a match contains', () => {
  // They come from what re2js keeps of an expression: another version may keep it elsewhere.
  test.each<[string, string, number[] | null]>([
    ['need[a-z]+', 'a needle, Needles', [2]],
    ['x?(TODO|FIXME): .*', 'FIXME: b, TODO: a', [0, 10]],
    ['a.*longer', 'a, no longer', [6]],
    ['(?:ab){2}', 'b abab', [2, 4]],
    ['^\\s*[0-9]+', '1', null],
    ['(a|b?)', 'a', null],
  ])('of %s', (q, text, found) => {
    expect(candidates(q, text)).toEqual(found);
  });

  test('are found in any case, with the Kelvin sign and the long s', () => {
    expect(candidates('kiss[0-9]*', 'KISS, kiſs, \u212aiss', false)).toEqual([0, 6, 13]);
    expect(candidates('straße', 'STRASSE straße', false)).toEqual([0, 8]);
    expect(candidates('äöü', 'ÄÖÜ', false)).toBe(null);
  });
});

describe('what is refused', () => {
  test.each(['(', 'a**', '(?=a)', '(a)\\1', '\\', 'a{1001}', '(?:a?){1000}'.repeat(80)])('%s', (q) => {
    expect(() => compile({ ...QUERY, q, regex: true })).toThrow(PatternFault);
  });
});
