import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { scanFolder } from './scan.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'headrace-ignore-'));
  git(folder, 'init', '-q');
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function write(files: Record<string, string>, root = folder): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
}

const taken = async (root = folder) => (await scanFolder(root)).files.map(({ path }) => path);

/** Whatever the settings of the machine. */
const ENV = { PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' };
const git = (root: string, ...args: string[]) =>
  execFileSync('git', args, { cwd: root, env: ENV, encoding: 'utf8' });
const byGit = (root: string) =>
  git(root, 'ls-files', '-z', '--others', '--exclude-per-directory=.gitignore').split('\0').slice(0, -1);
const sorted = (paths: string[]) => paths.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));

test.each<[name: string, patterns: string]>([
  ['names at any depth', 'b.txt\n*.log'],
  ['a leading slash', '/b.txt\n/d'],
  ['folders only', 'd/\nb.txt/'],
  ['a slash within', 'd/b.txt\nd/e/*'],
  ['stars across folders', '**/e/b.txt\nd/**/c.log\n!d/**/e'],
  ['all, but some', '*\n!*/\n!*.log'],
  ['nothing below a folder that is left out', 'd\n!d/e/b.txt'],
  ['the last one decides', '*.txt\n!b.txt\nd/e/b.txt'],
  ['sets', '[a-c].txt\n[!c].log\n[[:alpha:]]x\n[]-]y'],
  ['escapes, comments, spaces and line ends', '\\#x\r\n#y\nsp\\ \nb.txt   \n\\!z\r'],
  ['a byte order mark', '\ufeffb.txt'],
  ['a question mark is a byte', 'é?\n?.log\n??.txt'],
])('%s, as git has it', async (_, patterns) => {
  write({
    '.gitignore': patterns,
    ...Object.fromEntries(
      ['b.txt', 'c.log', 'd/b.txt', 'd/c.log', 'd/e/b.txt', 'd/e/c.log', 'f/d/b.txt', 'f/e/b.txt', 'x/d']
        .concat(['#x', '#y', 'y', ']y', '-y', 'qx', 'sp ', '!z', 'éa', 'é.txt', 'éab'])
        .map((path) => [path, '']),
    ),
  });
  expect(await taken()).toEqual(sorted(byGit(folder)));
});

test('generated trees and patterns at every level, as git matches them', async () => {
  const name = fc.constantFrom('a', 'b', 'ab', 'a.b', 'é', 'Z', '-', ' a');
  const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
  const piece = fc.constantFrom(
    'a',
    'b',
    'é',
    '.',
    '*',
    '?',
    '**',
    '[ab]',
    '[!a]',
    '[^b-é]',
    '[a-]',
    '[[:lower:]]',
    '\\a',
    '\\',
    '[',
    ' ',
  );
  // What git 2.52 and older match by `a**/b` is not what its manual says.
  const segment = fc
    .oneof(
      fc.constant('**'),
      name,
      fc.array(piece, { minLength: 1, maxLength: 3 }).map((p) => p.join('')),
    )
    .filter((text) => text === '**' || !text.includes('**'));
  const pattern = fc
    .tuple(
      fc.constantFrom('', '', '!'),
      fc.constantFrom('', '', '/'),
      fc.array(segment, { minLength: 1, maxLength: 3 }),
      fc.constantFrom('', '', '/', ' ', '\r'),
    )
    .map(([not, first, segments, last]) => not + first + segments.join('/') + last);
  const patterns = fc.array(pattern, { minLength: 1, maxLength: 4 });
  const tree = fc.record({
    paths: fc.array(path, { minLength: 1, maxLength: 12 }),
    ignores: fc.dictionary(fc.constantFrom('', 'a/', 'b/', 'a/b/', 'ab/a/'), patterns, { maxKeys: 3 }),
  });
  let count = 0;
  await fc.assert(
    fc.asyncProperty(tree, async ({ paths, ignores }) => {
      const root = join(folder, String(count++));
      mkdirSync(root);
      for (const at of paths) {
        try {
          write({ [at]: '' }, root);
        } catch {
          // Another path has a file where this one has a folder.
        }
      }
      for (const [at, lines] of Object.entries(ignores)) {
        try {
          write({ [`${at}.gitignore`]: lines.join('\n') }, root);
        } catch {
          // There is a file in the folder's place.
        }
      }
      expect(await taken(root)).toEqual(sorted(byGit(root)));
      rmSync(root, { recursive: true });
    }),
    { numRuns: Number(process.env.IGNORE_RUNS ?? 100) },
  );
}, 60_000);

test('.headraceignore adds to .gitignore, and takes back what that leaves out', async () => {
  write({
    '.gitignore': 'dist/\n*.tmp',
    '.headraceignore': '!dist/\ndrafts/',
    'a.tmp': '',
    'dist/a.js': '',
    'drafts/a.md': '',
    'sub/.headraceignore': '!a.tmp',
    'sub/a.tmp': '',
  });
  expect(await taken()).toEqual([
    '.gitignore',
    '.headraceignore',
    'dist/a.js',
    'sub/.headraceignore',
    'sub/a.tmp',
  ]);
});
