import { RE2JS } from 're2js';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { GlobFault, globsPattern } from './globs.ts';

const PATHS = [
  'a.ts',
  'b.js',
  'src/a.ts',
  'src/b.tsx',
  'src/deep/a.ts',
  'src/deep/deeper/c.ts',
  '.env',
  'test/[x].ts',
  'docs/ä.md',
  '🔑/-',
];
const chosen = (list: string) => PATHS.filter((path) => RE2JS.compile(globsPattern(list)).test(path));

test.each<[string, string[]]>([
  ['*.ts', ['a.ts', 'src/a.ts', 'src/deep/a.ts', 'src/deep/deeper/c.ts', 'test/[x].ts']],
  ['a**s', ['a.ts', 'src/a.ts', 'src/deep/a.ts']],
  ['src/*.ts', ['src/a.ts']],
  ['src/**/*.ts', ['src/a.ts', 'src/deep/a.ts', 'src/deep/deeper/c.ts']],
  ['**/deep/**', ['src/deep/a.ts', 'src/deep/deeper/c.ts']],
  ['src/**a.ts', ['src/a.ts', 'src/deep/a.ts']],
  ['?.ts', ['a.ts', 'src/a.ts', 'src/deep/a.ts', 'src/deep/deeper/c.ts']],
  ['docs/?.md,.*', ['.env', 'docs/ä.md']],
  ['[ab].ts', ['a.ts', 'src/a.ts', 'src/deep/a.ts']],
  ['[!a].*,', ['b.js', 'src/b.tsx', 'src/deep/deeper/c.ts', 'docs/ä.md']],
  ['[b-c].*', ['b.js', 'src/b.tsx', 'src/deep/deeper/c.ts']],
  ['src[+-9]a.ts', []],
  ['src[!x]a.ts', []],
  ['test/[[]x[]].ts', ['test/[x].ts']],
  ['?/[-]', ['🔑/-']],
  ['A.TS', []],
])('%s', (list, paths) => {
  expect(chosen(list)).toEqual(paths);
});

describe('a list is refused', () => {
  test.each(['[', 'a[b', 'a[]', '[!]', '[z-a]', ',', `${'x'.repeat(257)}.ts`, Array(21).fill('a').join(',')])(
    '%s',
    (list) => {
      expect(() => globsPattern(list)).toThrow(GlobFault);
    },
  );
});

test('any other list is an expression of RE2', () => {
  const characters = fc.constantFrom(
    'a',
    '*',
    '?',
    '[',
    ']',
    '!',
    '^',
    '-',
    '/',
    '\\',
    '.',
    '(',
    '{',
    'ä',
    '🔑',
    ',',
    '$',
  );
  fc.assert(
    fc.property(fc.string({ unit: characters, maxLength: 12 }), (list) => {
      let pattern: string;
      try {
        pattern = globsPattern(list);
      } catch (error) {
        expect(error).toBeInstanceOf(GlobFault);
        return;
      }
      RE2JS.compile(pattern);
    }),
    { numRuns: 500 },
  );
});
