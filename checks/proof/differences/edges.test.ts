/** Differences that histories seldom show: each equal to git's, with patches that `git apply` takes. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { blobId, faultsOfPatches, gitDiffs, patient, writeTrees } from './oracle.ts';
import type { Attempt } from './oracle.ts';
import { diffTrees } from '../../../packages/server/src/merge/diff-trees.ts';
import { Blobs, RealGit, lines, x } from '../../../packages/server/src/merge/merge.fixture.ts';
import type { Literal } from '../../../packages/server/src/merge/merge.fixture.ts';
import { generate } from '../fuzz/generators.ts';
import { createGit } from '../../../packages/server/src/merge/git.ts';
import type { DiffFile } from '../../../packages/server/src/merge/types.ts';

const SEED = Number(process.env['HEADRACE_DIFF_SEED'] ?? 1);
const GENERATED = Number(process.env['HEADRACE_DIFF_GENERATED'] ?? 60);
const dir = mkdtempSync(join(tmpdir(), 'headrace-diff-edges-'));
const engine = createGit({ dir });
const real = new RealGit();
afterAll(() => {
  engine.close();
  real.remove();
  rmSync(dir, { recursive: true, force: true });
});

const told = ({ patch: _patch, truncated: _truncated, ...rest }: DiffFile) => rest;

/** The differences, which have to be git's to the byte and which git has to be able to apply. */
async function provenAll(pairs: [before: Literal, after: Literal][]): Promise<DiffFile[][]> {
  const blobs = new Blobs();
  const git = (args: string[], input: string | Buffer): Buffer => real.run(args, input);
  const attempts: Attempt[] = [];
  for (const [before, after] of pairs) {
    const [from, to] = [blobs.tree(before), blobs.tree(after)];
    engine.tidy();
    attempts.push({
      from,
      to,
      files: await diffTrees({ from, to, readBlobs: blobs.read, git: patient(engine) }),
    });
  }
  const ids = await writeTrees(
    git,
    attempts.flatMap(({ from, to }) => [from, to]),
    blobs.byHash,
  );
  const wanted = await gitDiffs(
    git,
    attempts.map((_, i) => [ids[2 * i]!, ids[2 * i + 1]!]),
  );
  expect(attempts.map(({ files }) => files.map(told))).toEqual(wanted);
  await partsAreTheWhole(attempts, blobs);
  const faults = faultsOfPatches(real.dir, attempts, (sha256) => blobId(blobs.byHash.get(sha256)!));
  expect(faults.flatMap((found, i) => (found.length > 0 ? [[i, ...found]] : []))).toEqual([]);
  return attempts.map(({ files }) => files);
}
/** The difference for some paths, and the one without patches, match the whole difference. */
async function partsAreTheWhole(attempts: Attempt[], blobs: Blobs): Promise<void> {
  for (const { from, to, files } of attempts) {
    engine.tidy();
    const input = { from, to, readBlobs: blobs.read, git: patient(engine) };
    expect(await diffTrees({ ...input, patches: false })).toEqual(files.map(told));
    // A part has a patch that exceeds the limit of the whole.
    const names = files.flatMap((file) => (file.truncated ? [] : [file.path, file.oldPath ?? file.path]));
    const asked = [
      ...names.slice(0, 4).map((name) => [name]),
      names.filter((_, i) => i % 3 === 0).slice(0, 50),
    ];
    for (const paths of asked)
      expect(await diffTrees({ ...input, paths: [...paths, 'not there'] }), paths.join()).toEqual(
        files.filter((file) => [file.path, file.oldPath].some((name) => paths.includes(name!))),
      );
  }
}
const proven = async (before: Literal, after: Literal): Promise<DiffFile[]> =>
  (await provenAll([[before, after]]))[0]!;
const brief = (files: DiffFile[]) =>
  Object.fromEntries(
    files.map((f) => [
      f.path,
      `${f.status}${f.oldPath === undefined ? '' : ` from ${f.oldPath}`}${f.binary ? ' binary' : ''} +${f.additions} -${f.deletions}${f.patch === undefined ? '' : ' patch'}${f.truncated ? ' truncated' : ''}`,
    ]),
  );

const NAMES = [
  'with blank',
  ' leading',
  'trailing ',
  'quo"te',
  "apo'strophe",
  'ümläut',
  'ümläut',
  '漢字/😀.txt',
  '-dash',
  '--',
  '--- a/x',
  'x b/x',
  'a/a/b/b',
  'dev/null',
  'a => b',
  '{a => b}/c',
  '$HOME `id` *?[]',
  'no-break\u00a0',
  '#',
  ':(top)x',
  'x.orig',
  '.hidden/.x',
  'n'.repeat(250),
  'diff --git a/x b/x',
];
const named = (text: string): Literal => Object.fromEntries(NAMES.map((name) => [name, `${name}\n${text}`]));

interface Case {
  name: string;
  from: Literal;
  to: Literal;
  told: Record<string, string>;
}

const cases: Case[] = [
  {
    name: 'no newline at the end, gained, lost and kept',
    from: { gained: 'a\nb', lost: 'a\nb\n', kept: 'a\nb' },
    to: { gained: 'a\nb\n', lost: 'a\nb', kept: 'A\nb' },
    told: { gained: 'modified +1 -1 patch', lost: 'modified +1 -1 patch', kept: 'modified +1 -1 patch' },
  },
  {
    name: 'line ends of Windows',
    from: { a: 'a\r\nb\r\nc\r\n', b: 'a\r\nb\r\n', c: 'a\nb\n' },
    to: { a: 'a\r\nB\r\nc\r\n', b: 'a\nb\n', c: 'a\r\nb\r\n' },
    told: { a: 'modified +1 -1 patch', b: 'modified +2 -2 patch', c: 'modified +2 -2 patch' },
  },
  {
    name: 'lone carriage returns, form feeds and a byte order mark',
    from: { a: 'a\rb\rc', b: '\ufeffa\n', c: 'a\fb\u2028\n' },
    to: { a: 'a\rB\rc', b: 'a\n', c: 'a\fB\u2028\n' },
    told: { a: 'modified +1 -1 patch', b: 'modified +1 -1 patch', c: 'modified +1 -1 patch' },
  },
  {
    name: 'empty files',
    from: { gone: '', emptied: 'a\n', filled: '', tool: '' },
    to: { made: 'made\n', emptied: '', filled: 'a\n', tool: x('') },
    told: {
      gone: 'deleted +0 -0',
      made: 'added +1 -0 patch',
      emptied: 'modified +0 -1 patch',
      filled: 'modified +1 -0 patch',
      tool: 'mode +0 -0',
    },
  },
  {
    name: 'an empty file is moved, another added',
    from: { 'old/empty': '' },
    to: { 'new/empty': '', more: '' },
    told: { 'new/empty': 'added +0 -0', more: 'renamed from old/empty +0 -0' },
  },
  {
    name: 'mode alone, on and off',
    from: { on: 'a\n', off: x('b\n') },
    to: { on: x('a\n'), off: 'b\n' },
    told: { on: 'mode +0 -0', off: 'mode +0 -0' },
  },
  {
    name: 'mode with content',
    from: { on: 'a\n', off: x('b\n') },
    to: { on: x('A\n'), off: 'B\n' },
    told: { on: 'modified +1 -1 patch', off: 'modified +1 -1 patch' },
  },
  {
    name: 'moved, with mode and edit',
    from: { a: lines(30), b: lines(40) },
    to: { c: x(lines(30)), d: x(lines(40, { 20: 'X' })) },
    told: { c: 'renamed from a +0 -0', d: 'renamed from b +1 -1 patch' },
  },
  {
    name: 'moved into the folder of its own name, and out',
    from: { a: lines(30), 'b/b': lines(40) },
    to: { 'a/a': lines(30, { 3: 'X' }), b: lines(40, { 3: 'X' }) },
    told: { 'a/a': 'renamed from a +1 -1 patch', b: 'renamed from b/b +1 -1 patch' },
  },
  {
    name: 'two files change places',
    from: { a: lines(30), b: 'b\n'.repeat(30) },
    to: { a: 'b\n'.repeat(30), b: lines(30) },
    told: { a: 'modified +30 -30 patch', b: 'modified +30 -30 patch' },
  },
  {
    name: 'moved on, a new one in its place',
    from: { a: lines(30), b: lines(40) },
    to: { b: lines(30), a: 'new\n', c: lines(40) },
    told: { a: 'modified +1 -30 patch', b: 'modified +0 -10 patch', c: 'added +40 -0 patch' },
  },
  {
    name: 'a file becomes a folder, a folder a file',
    from: { a: 'file\n', 'b/one': '1\n', 'b/two': '2\n' },
    to: { 'a/one': 'one\n', b: 'other\n' },
    told: {
      a: 'deleted +0 -1 patch',
      'a/one': 'added +1 -0 patch',
      b: 'added +1 -0 patch',
      'b/one': 'deleted +0 -1 patch',
      'b/two': 'deleted +0 -1 patch',
    },
  },
  {
    name: 'half alike is moved, less is not',
    from: { a: lines(20), b: lines(20).replaceAll('line', 'word') },
    to: { c: `${lines(12)}${'other\n'.repeat(8)}`, d: 'entirely other\n'.repeat(20) },
    told: { b: 'deleted +0 -20 patch', c: 'renamed from a +8 -8 patch', d: 'added +20 -0 patch' },
  },
  {
    name: 'one old place, two new ones',
    from: { a: lines(30) },
    to: { b: lines(30), c: lines(30) },
    told: { b: 'renamed from a +0 -0', c: 'added +30 -0 patch' },
  },
  {
    name: 'binary files',
    from: {
      changed: Buffer.from([0, 1]),
      gone: Buffer.from([0, 2]),
      text: 'a\n',
      old: Buffer.alloc(5000, '\0x'),
    },
    to: {
      changed: Buffer.from([0, 3]),
      made: Buffer.from([0, 4]),
      text: Buffer.from([0]),
      new: Buffer.alloc(5000, '\0x'),
    },
    told: {
      changed: 'modified binary +0 -0',
      gone: 'deleted binary +0 -0',
      made: 'added binary +0 -0',
      text: 'modified binary +0 -0',
      new: 'renamed from old binary +0 -0',
    },
  },
  {
    name: 'a zero byte behind the first 8,000',
    from: { a: `${'a'.repeat(8100)}\n\0b\n` },
    to: { a: `${'a'.repeat(8100)}\n\0c\n` },
    told: { a: 'modified +1 -1 patch' },
  },
  {
    name: 'lines that look like a patch',
    from: { a: 'x\n' },
    to: { a: '--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\ndiff --git a/a b/a\n\\ No newline at end of file\n' },
    told: { a: 'modified +7 -1 patch' },
  },
  {
    name: 'text that is not UTF-8',
    from: { a: Buffer.from('caf\xe9\n', 'latin1'), b: lines(30) },
    to: { a: Buffer.from('th\xe9\n', 'latin1'), c: lines(30, { 3: 'X' }) },
    told: { a: 'modified +1 -1 truncated', c: 'renamed from b +1 -1 patch' },
  },
  { name: 'trees without files', from: { a: 'a\n' }, to: {}, told: { a: 'deleted +0 -1 patch' } },
];

describe('edges of differences', () => {
  test.each(cases)('$name', async ({ from, to, told: expected }) => {
    expect(brief(await proven(from, to))).toEqual(expected);
    await proven(to, from);
  });

  test('names of every kind', async () => {
    expect(Object.keys(brief(await proven(named('old\n'), named('new\n')))).sort()).toEqual(
      [...new Set(NAMES)].sort(),
    );
    await proven({}, named('new\n'));
    await proven(named('old\n'), {});
    const moved = Object.fromEntries(NAMES.map((name, i) => [name, `${i} ${i}\n${lines(20)}`]));
    const files = await proven(
      moved,
      Object.fromEntries(Object.entries(moved).map(([name, text]) => [`moved/${name}`, `${text}more\n`])),
    );
    expect(files.map((f) => f.status)).toEqual(files.map(() => 'renamed'));
  });

  test('generated trees', async () => {
    const pairs = Array.from({ length: GENERATED }, (_, i) => generate(SEED, i)).flatMap(
      ({ base, head, draft }): [Literal, Literal][] =>
        [
          [base, head],
          [base, draft],
          [head, draft],
        ].map(([a, b]) => [Object.fromEntries(a!), Object.fromEntries(b!)]),
    );
    const files = (await provenAll(pairs)).flat();
    expect(new Set(files.map((f) => f.status))).toEqual(
      new Set(['added', 'deleted', 'mode', 'modified', 'renamed']),
    );
  }, 300_000);

  test('10,000 files at once, whose patches are over 8 MiB', async () => {
    const tree = (word: string, left: number): Literal =>
      Object.fromEntries(
        Array.from({ length: 10_000 }, (_, i) => [
          `folder ${i % 50}/${i}`,
          `${i}\n${`${word} ${i}\n`.repeat(60)}`,
        ]).filter((_, i) => i % 20 !== left),
      );
    const files = await proven(tree('one', 0), tree('another', 1));
    expect(files.filter((f) => f.status === 'modified').length).toBe(9000);
    // Here and there git takes two files for one that was moved, by the hashes of their lines.
    expect(files.length).toBeGreaterThan(9900);
    const patches = files.map((f) => f.patch?.length ?? 0);
    expect(patches.reduce((sum, n) => sum + n, 0)).toBeLessThanOrEqual(8 * 1024 * 1024);
    expect(files.filter((f) => f.truncated).length).toBe(patches.filter((n) => n === 0).length);
    expect(files.some((f) => f.truncated)).toBe(true);
  }, 300_000);

  test('more moved files than git compares', async () => {
    const tree = (folder: string, more: string): Literal =>
      Object.fromEntries(
        Array.from(
          { length: 2100 },
          (_, i) => [`${folder}/${folder}${i}`, `${i}\n${lines(8)}${i % 2 === 0 ? more : ''}`] as const,
        ),
      );
    const statuses = (await proven(tree('old', ''), tree('new', 'more\n'))).map((f) => f.status);
    expect(statuses.filter((s) => s === 'renamed').length).toBe(1050);
  }, 300_000);
});
