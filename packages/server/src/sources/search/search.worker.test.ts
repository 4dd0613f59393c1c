import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { plainSearch, QUERY, searchAll } from './search.fixture.ts';
import type { Files } from './search.fixture.ts';

const RUNS = 300;
const WORDS = [
  'foo',
  'Foo',
  'ſs',
  'K',
  'k',
  '\u212a',
  'bar',
  'ä',
  '🔑',
  '\ufeff',
  '\u2028',
  'a.b',
  ' ',
  '\r',
  'x',
];

/** Lines of words, sometimes with bytes that are no UTF-8 or a NUL. */
const content = fc
  .array(
    fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom(...WORDS, '\n', '\r\n', '\n') },
      fc.uint8Array({ maxLength: 4 }),
    ),
    {
      maxLength: 40,
    },
  )
  .map((parts) => Buffer.concat(parts.map((part) => Buffer.from(part as string))));
const files: fc.Arbitrary<Files> = fc.dictionary(
  fc.constantFrom('a', 'b/c', 'b/d.ts', 'b.ts', 'z', 'ü', '🔑'),
  content,
  {
    noNullPrototype: true,
  },
);

/** Expressions that mean the same to RE2 and to JavaScript. */
const { regex } = fc.letrec<{ regex: string; part: string }>((tie) => ({
  part: fc.oneof(
    fc.constantFrom(
      'foo',
      'o',
      'ar',
      'k',
      's',
      'ä',
      '🔑',
      '.',
      '^',
      '$',
      '[a-o]',
      '[^ab]',
      '\\d',
      '\\.',
      'x',
    ),
    tie('regex').map((inner) => `(${inner})`),
    // JavaScript ends a repetition at its first empty match, RE2 does not.
    fc
      .tuple(
        tie('regex').filter((inner) => !new RegExp(`^(?:${inner})$`, 'u').test('')),
        fc.constantFrom('*', '+', '?', '*?', '+?', '{2}', '{1,3}'),
      )
      .map(([inner, times]) => `(?:${inner})${times}`),
  ),
  regex: fc.oneof(
    { maxDepth: 4 },
    tie('part'),
    fc.array(tie('part'), { minLength: 1, maxLength: 3 }).map((parts) => parts.join('')),
    fc.array(tie('regex'), { minLength: 2, maxLength: 3 }).map((parts) => parts.join('|')),
  ),
}));
const query = fc
  .tuple(
    fc.oneof(
      fc.record({ q: regex, regex: fc.constant(true) }),
      fc.record({
        q: fc
          .array(fc.constantFrom(...WORDS, 'o', '\ufffd'), { minLength: 1, maxLength: 2 })
          .map((w) => w.join('')),
        regex: fc.constant(false),
      }),
    ),
    fc.boolean(),
    fc.integer({ min: 0, max: 3 }),
  )
  .map(([what, caseSensitive, context]) => ({ ...QUERY, ...what, caseSensitive, context }));

describe('what is found', () => {
  test('is what a plain search finds, in as many parts as one likes', () => {
    fc.assert(
      fc.property(files, query, fc.integer({ min: 1, max: 5 }), (tree, asked, limit) => {
        const { jobs, ...found } = searchAll(tree, asked, { limit });
        expect(found).toEqual(plainSearch(tree, asked));
        expect(jobs).toBeGreaterThan(0);
      }),
      { numRuns: RUNS },
    );
  });

  test('is the same where each part has no time left: each goes on by a line or a file at least', () => {
    fc.assert(
      fc.property(files, query, (tree, asked) => {
        const { jobs: _, ...found } = searchAll(tree, asked, { endsAt: 0 });
        const plain = plainSearch(tree, asked);
        const lines = ({ path, line, text }: { path: string; line: number; text: string }) => [
          path,
          line,
          text,
        ];
        // Ranges may end early, after some dozen.
        expect([found.matches.map(lines), found.binary]).toEqual([plain.matches.map(lines), plain.binary]);
      }),
      { numRuns: RUNS },
    );
  });

  test('is cut: at 100 ranges, and 1,000 code points of a line and of those around it', () => {
    const tree = {
      a: Buffer.from(`${'🔑'.repeat(1000)}\n${'n'.repeat(2000)}\n${'🔑'.repeat(1001)}x\n`),
      b: Buffer.alloc(8001, 'n\n\n').fill(0, 8000),
      c: Buffer.alloc(8000, 'n\n\n').fill(0, 7999),
    };
    const asked = { ...QUERY, q: 'n', context: 1 };
    expect(searchAll(tree, asked)).toMatchObject(plainSearch(tree, asked));
    expect(searchAll(tree, asked).matches[0]!.ranges.length).toBe(100);
  });
});

test('long lines and those around them are cut between characters, whatever their bytes are', () => {
  const lines = ['aé€🔑', 'a', 'é', '€', '🔑', '\ufffd', 'a🔑'].flatMap((part) => [
    Buffer.from(part.repeat(2_000)),
    Buffer.from(`xx${part.repeat(500)}\r`),
    Buffer.concat([Buffer.from('\ufeff'), Buffer.alloc(4_001, Buffer.from([0xf0, 0x9f, 0x94]))]),
    Buffer.concat([Buffer.from('🔑'.repeat(1_000)), Buffer.from('\r')]),
  ]);
  const tree = { a: Buffer.concat(lines.flatMap((line) => [line, Buffer.from('\n')])) };
  const asked = { ...QUERY, q: '^.', regex: true, context: 3 };
  expect(searchAll(tree, asked).matches).toEqual(plainSearch(tree, asked).matches);
});

describe('expressions that explode elsewhere', () => {
  const tree = {
    a: Buffer.from(`${'a'.repeat(100_000)}!\n`),
    b: Buffer.from(`${'ab'.repeat(50_000)}\n${'x'.repeat(50_000)}y\n`),
    c: Buffer.from(`${' '.repeat(100_000)}end\n`),
  };
  test.each([
    '(a+)+$',
    '(a|a)*c',
    '(a|aa)+$',
    '(a*)*c',
    '(x+x+)+z',
    '\\s+$',
    '([a-z]+)*[0-9]',
    '(a?){30}a{30}b',
  ])('%s takes its time in one pass', (q) => {
    const began = performance.now();
    expect(searchAll(tree, { ...QUERY, q, regex: true }).matches).toEqual([]);
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  test('a long match is found whole', () => {
    const [match] = searchAll(tree, { ...QUERY, q: '(a+)+!', regex: true }).matches;
    expect(match!.ranges).toEqual([{ start: 0, end: 100_001 }]);
  });
});
