import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { scratch } from '../runner.fixture.ts';
import { Gitignore } from './gitignore.ts';

const repositories = scratch();

function ignored(files: Record<string, string>, paths: string[]): string[] {
  const ignore = new Gitignore();
  for (const folder of Object.keys(files).sort()) ignore.add(bytesOf(folder), bytesOf(files[folder]!));
  return paths.filter((path) => ignore.ignores(bytesOf(path)));
}

const bytesOf = (text: string): string => Buffer.from(text).toString('latin1');

/** git's own verdict on files at these paths. */
function ignoredByGit(files: Record<string, string>, paths: string[]): string[] {
  const root = mkdtempSync(join(repositories, 'r'));
  const git = (args: string[], input = ''): string =>
    spawnSync('git', args, {
      cwd: root,
      input,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], GIT_CONFIG_NOSYSTEM: '1', HOME: root },
    }).stdout;
  git(['init', '-q', '.']);
  for (const [folder, text] of Object.entries(files)) {
    mkdirSync(join(root, folder), { recursive: true });
    writeFileSync(join(root, folder, '.gitignore'), text);
  }
  for (const path of paths) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), '');
  }
  return git(['check-ignore', '--no-index', '-z', '--stdin'], paths.map((path) => `${path}\0`).join(''))
    .split('\0')
    .filter(Boolean);
}

describe('what a .gitignore leaves out', () => {
  const PATHS = [
    'a',
    'a.log',
    'keep.log',
    'build/o',
    'src/build/o',
    'src/a.log',
    'src/deep/x',
    'src/deep/keep.log',
    'doc/a.txt',
    'x/y/z/a.txt',
    '#note',
    '!bang',
    'sp ',
    'tmp',
    'foo/bar/baz',
    'A.LOG',
    'ää',
    'üx',
  ];
  test.each([
    ['*.log', ['a.log', 'keep.log', 'src/a.log', 'src/deep/keep.log']],
    ['*.log\n!keep.log', ['a.log', 'src/a.log']],
    ['/build/', ['build/o']],
    ['build', ['build/o', 'src/build/o']],
    ['build/\n!build/o', ['build/o', 'src/build/o']],
    ['src/*\n!src/deep', ['src/build/o', 'src/a.log']],
    ['**/deep', ['src/deep/x', 'src/deep/keep.log']],
    ['src/**', ['src/build/o', 'src/a.log', 'src/deep/x', 'src/deep/keep.log']],
    ['x/**/a.txt', ['x/y/z/a.txt']],
    ['doc/*.txt', ['doc/a.txt']],
    ['foo/*/baz', ['foo/bar/baz']],
    ['\\#note\n\\!bang', ['#note', '!bang']],
    ['# a\n\n  \n', []],
    ['sp\\ ', ['sp ']],
    ['tmp/', []],
    ['[ab]', ['a']],
    ['[!b-z]', ['a']],
    ['*', PATHS],
    ['*\n!*/\n!*.log', PATHS.filter((path) => !path.endsWith('.log'))],
    ['a.log\r\n', ['a.log', 'src/a.log']],
    ['[', []],
    ['x**/a.txt', ['x/y/z/a.txt']],
    ['src***/x', ['src/deep/x']],
    ['***/deep/x', ['src/deep/x']],
    ['ä?\n[ü]x', []],
    ['ä??\n[ü][ü]x', ['ää', 'üx']],
  ])('%j', (text, expected) => {
    expect(ignored({ '': text }, PATHS)).toEqual(expected);
    expect(ignoredByGit({ '': text }, PATHS)).toEqual(expected);
  });

  test('a nested file counts below its folder, and before those above it', () => {
    const files = { '': '*.log\n', src: '!a.log\n/deep/x\n', 'src/deep': 'keep.log\n' };
    expect(ignored(files, PATHS)).toEqual(['a.log', 'keep.log', 'src/deep/x', 'src/deep/keep.log']);
    expect(ignoredByGit(files, PATHS)).toEqual(ignored(files, PATHS));
  });
});

test('what strangers write costs a bounded time', () => {
  const before = process.cpuUsage();
  expect(
    ignored({ '': `${'*a'.repeat(40)}*b\n${'**/*a*a/'.repeat(40)}b` }, ['a'.repeat(250), 'aaa/'.repeat(500)]),
  ).toEqual([]);
  const many = (one: string, count: number) =>
    Array.from({ length: count }, (_, i) => `${one}${i}*`).join('\n');
  for (const [patterns, path] of [
    [many(`**/*${'a*'.repeat(20)}`, 1000), 'aaaaaaaa/'.repeat(100)],
    [many(`*${'a*'.repeat(20)}`, 55), 'a'.repeat(250)],
    [many('**/a*/'.repeat(600), 1), 'a/'.repeat(20_000)],
    [many(`*${'a'.repeat(2000)}`, 1), 'a'.repeat(100_000)],
  ] as const)
    expect(() =>
      ignored(
        { '': patterns },
        Array.from({ length: 10_000 }, (_, i) => `${path}x${i}`),
      ),
    ).toThrow('too long');
  expect(ignored({ '': '[a][b]\n'.repeat(50_000) }, ['ac'])).toEqual([]);
  expect(process.cpuUsage(before).user).toBeLessThan(12e6);
});

test('what people write takes a fraction of the budget', () => {
  const patterns = [
    ...Array.from({ length: 20 }, (_, i) => `*.x${i}`),
    ...Array.from({ length: 20 }, (_, i) => `/build${i}/`),
    ...Array.from({ length: 15 }, (_, i) => `**/cache${i}/*.tmp`),
  ].join('\n');
  const paths = Array.from({ length: 100_000 }, (_, i) => `packages/p${i % 100}/src/file-${i}.ts`);
  expect(ignored({ '': patterns }, [...paths, 'build7/a'])).toEqual(['build7/a']);
});

test('agrees with git on random patterns', () => {
  const piece = fc.constantFrom(
    'a',
    'b',
    'ab',
    '*',
    '**',
    '?',
    '/',
    '/',
    '!',
    '[ab]',
    '[!a]',
    '\\',
    'a*',
    '*b',
    ' ',
    '.',
  );
  const pattern = fc.array(piece, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(''));
  const name = fc.constantFrom('a', 'b', 'ab', 'ba', 'a.b');
  const path = fc
    .array(name, { minLength: 1, maxLength: 3 })
    .map((names) => [...names.slice(0, -1).map((n) => `${n}d`), names.at(-1)].join('/'));
  fc.assert(
    fc.property(
      fc.array(pattern, { minLength: 1, maxLength: 4 }),
      fc.array(pattern, { maxLength: 2 }),
      fc.uniqueArray(path, { minLength: 1, maxLength: 8 }),
      (top, nested, paths) => {
        const files = { '': `${top.join('\n')}\n`, ad: `${nested.join('\n')}\n` };
        expect(ignored(files, paths)).toEqual(ignoredByGit(files, paths));
      },
    ),
    { numRuns: Number(process.env['GITIGNORE_RUNS'] ?? 40) },
  );
}, 60_000);
