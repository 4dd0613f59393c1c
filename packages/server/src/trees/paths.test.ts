import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkPath, comparePaths, findCollisions, foldPath, sortByPath } from './paths.ts';

describe('checkPath', () => {
  const bad = [
    '',
    '.',
    '..',
    '/',
    '/etc/passwd',
    '../up',
    'a/../b',
    'a/..',
    './a',
    'a/./b',
    'a/.',
    'a//b',
    '//a',
    'a/',
    'a\\b',
    '..\\up',
    'C:',
    'C:/x',
    'c:x',
    'z:\\x',
    'nul\0byte',
    'new\nline',
    'tab\there',
    'esc\x1b',
    'del\x7f',
    'c1\x85',
    'lone\ud800',
    '\udc00/a',
    'a/\udfff\ud800',
    '.git',
    '.git/config',
    'sub/.git/hooks/x',
    '.GIT/x',
    '.Git',
    '.context/a',
    '.CONTEXT',
    'x/.context/y',
    '.hoplite/a',
    '.Hoplite',
    'a/.hoplite',
    'git~1/config',
    'GIT~1',
    'a/Git~1',
    '.git.',
    '.git ',
    '.git. . ./x',
    '.context...',
    '.g\u200bit',
    '\u200c.git',
    '.git\ufeff',
    '\ufeff.hop\u200dlite./a',
    '.git\u200b.',
    'git~1.',
    '.g\u200fit',
    '\u202e.git/config',
    '.git\u206d',
    'd/'.repeat(511) + 'fff',
    'x'.repeat(256),
    `a/${'ü'.repeat(128)}`,
    '検'.repeat(86),
  ];
  test.each(bad)('%j is refused', (path) => expect(checkPath(path)).toMatch(/./));

  const good = [
    '.gitignore',
    '.github/workflows/ci.yml',
    '.gitattributes',
    '.contextual/a',
    '.hoplite-not/a',
    'git/config',
    'context/a',
    'a.git/b',
    '...',
    'a/...b',
    '..a',
    'a..',
    '.env',
    '-rf',
    '~/x',
    'sp ace/ü ñ/検索.txt',
    '$HOME',
    'a\'b"c',
    '%2e%2e/x',
    'a*b?',
    '[id].tsx',
    '@scope/pkg',
    '😀.txt',
    'a\u200bb',
    'git~2',
    'a b.',
    'xy:z',
    'a/C:/b',
    ' ',
    '.git-x',
    'cafe\u0301',
    'd/'.repeat(511) + 'ff',
    'x'.repeat(255),
    'ü'.repeat(127),
    '検'.repeat(85),
    '😀/'.repeat(511) + 'ff',
  ];
  test.each(good)('%j is accepted', (path) => expect(checkPath(path)).toBeNull());
});

describe('foldPath', () => {
  test.each([
    ['README.md', 'readme.MD'],
    ['ÄRGER', 'ärger'],
    ['caf\u00e9', 'cafe\u0301'],
    ['STRASSE', 'straße'],
    ['ΑΣ/β', 'ασ/Β'],
    ['\u212a', 'k'],
    ['ſ', 's'],
    ['ǅ', 'ǆ'],
  ])('%j and %j are one path', (a, b) => expect(foldPath(a)).toBe(foldPath(b)));
  test.each([
    ['a', 'b'],
    ['e', 'é'],
    ['a b', 'ab'],
    ['ss/', 's/s'],
  ])('%j and %j are two', (a, b) => expect(foldPath(a)).not.toBe(foldPath(b)));
  test('the way for ASCII is the general way', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary-ascii' }),
        (s) => foldPath(s) === s.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC'),
      ),
    );
  });
});

describe('order', () => {
  test('is that of the bytes', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' })), (list) => {
        const bytes = (p: string) => Buffer.from(p);
        const expected = [...list].sort((a, b) => Buffer.compare(bytes(a), bytes(b)));
        expect(sortByPath(list.map((path) => ({ path }))).map((e) => e.path)).toEqual(expected);
        expect([...list].sort(comparePaths)).toEqual(expected);
      }),
    );
  });
  test('differs from UTF-16 beyond the basic plane', () =>
    expect(comparePaths('\uff5e', '😀')).toBeLessThan(0));
});

describe('findCollisions', () => {
  test.each<[string[], number[]]>([
    [['x', 'a/b', 'a/b'], [2]],
    [['README.md', 'x', 'readme.MD'], [2]],
    [['caf\u00e9', 'cafe\u0301'], [1]],
    [['a', 'x', 'a/b'], [2]],
    [['a/b', 'x', 'a'], [2]],
    [['docs', 'Docs/b'], [1]],
    [['Docs/b', 'docs'], [1]],
    [['Docs/a', 'docs/b'], []],
    [['a', 'a.b', 'a-b/c', 'ab'], []],
    [['a/b/c', 'A'], [1]],
    [['a', 'A/b/c/d'], [1]],
    [
      ['x/a', 'x', 'x/b'],
      [1, 2],
    ],
    [
      ['a', 'a', 'a/b', 'A/B'],
      [1, 2, 3],
    ],
    [
      ['a/b', 'a/b/c', 'a/b/d', 'a'],
      [1, 2, 3],
    ],
    [['a.b', 'a', 'a/c', 'a0'], [2]],
    [[], []],
  ])('%j: at %j', (paths, indexes) => expect(findCollisions(paths).map((c) => c.index)).toEqual(indexes));

  test('names exactly the later of every colliding pair', () => {
    const clash = (a: string, b: string) => a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`);
    const path = fc
      .array(fc.constantFrom('a', 'A', 'b', 'a.', 'é'), { minLength: 1, maxLength: 4 })
      .map((s) => s.join('/'));
    fc.assert(
      fc.property(fc.array(path, { maxLength: 12 }), (paths) => {
        const folded = paths.map(foldPath);
        const expected = folded.flatMap((p, i) => (folded.slice(0, i).some((q) => clash(p, q)) ? [i] : []));
        expect(findCollisions(paths).map((c) => c.index)).toEqual(expected);
      }),
    );
  });

  test('10,000 deep paths take no quadratic time', () => {
    const paths = Array.from({ length: 10_000 }, (_, i) => `${'d/'.repeat(400)}${i}`);
    const started = performance.now();
    expect(findCollisions(paths)).toEqual([]);
    expect(performance.now() - started).toBeLessThan(10_000); // with room for a busy machine
  });
});
