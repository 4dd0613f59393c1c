import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { diffTrees } from './diff-trees.ts';
import { Blobs, lines, x } from './merge.fixture.ts';
import type { Literal } from './merge.fixture.ts';
import { GitFailure } from './git-process.ts';
import { createGit } from './git.ts';
import type { Git } from './git.ts';
import type { DiffFile } from './types.ts';

const dir = mkdtempSync(join(tmpdir(), 'headrace-diff-'));
const git = createGit({ dir: join(dir, 'git') });
afterAll(() => {
  git.close();
  rmSync(dir, { recursive: true, force: true });
});

async function diff(from: Literal, to: Literal): Promise<{ files: DiffFile[]; blobs: Blobs }> {
  const blobs = new Blobs();
  return {
    files: await diffTrees({ from: blobs.tree(from), to: blobs.tree(to), readBlobs: blobs.read, git }),
    blobs,
  };
}
const brief = (files: DiffFile[]) =>
  Object.fromEntries(
    files.map((f) => [f.path, [f.status, f.binary, f.additions, f.deletions, f.patch !== undefined]]),
  );
const MiB = 1024 * 1024;

describe('diff', () => {
  test('tells kinds apart and counts lines', async () => {
    const { files } = await diff(
      {
        same: 's\n',
        changed: lines(5),
        gone: '1\n2\n',
        tool: '#!\n',
        pic: Buffer.from([0, 1]),
        both: 'b\n',
        'old/exact': lines(30),
        'old/near': `${lines(40)}x\n`,
        emptied: 'e\n',
        hollow: '',
      },
      {
        same: 's\n',
        changed: lines(5, { 3: 'three\nmore' }),
        made: 'a\nb\nno end',
        tool: x('#!\n'),
        pic: Buffer.from([0, 2]),
        both: x('B\n'),
        'new/exact': lines(30),
        'new/near': `${lines(40, { 20: 'twenty' })}x\n`,
        copy: 's\n',
        emptied: '',
      },
    );
    expect(brief(files)).toEqual({
      both: ['modified', false, 1, 1, true],
      changed: ['modified', false, 2, 1, true],
      copy: ['added', false, 1, 0, true],
      emptied: ['modified', false, 0, 1, true],
      gone: ['deleted', false, 0, 2, true],
      hollow: ['deleted', false, 0, 0, false],
      made: ['added', false, 3, 0, true],
      'new/exact': ['renamed', false, 0, 0, false],
      'new/near': ['renamed', false, 1, 1, true],
      pic: ['modified', true, 0, 0, false],
      tool: ['mode', false, 0, 0, false],
    });
    expect(files.map((f) => f.path)).toEqual(files.map((f) => f.path).toSorted());
    expect(files.filter((f) => f.oldPath).map((f) => [f.path, f.oldPath])).toEqual([
      ['new/exact', 'old/exact'],
      ['new/near', 'old/near'],
    ]);
  });

  test('reads only changed contents', async () => {
    const { blobs } = await diff(
      { same: 'never read\n', a: 'first\n' },
      { same: 'never read\n', a: 'second\n' },
    );
    expect([...blobs.asked].map((sha) => blobs.byHash.get(sha)!.toString())).toEqual(['first\n', 'second\n']);
  });

  test('of some paths reads and compares those alone, and for moved files what only one side has', async () => {
    const from: Literal = { a: lines(9), b: 'b\n', 'old/n': lines(40), gone: 'g\n', same: 's\n' };
    const to: Literal = {
      a: lines(9, { 2: 'X' }),
      b: 'B\n',
      'new/n': lines(40, { 20: 'X' }),
      made: 'm\n',
      same: 's\n',
    };
    const whole = (await diff(from, to)).files;
    const own = createGit({ dir: join(dir, 'parts') });
    const of = async (paths: string[], patches?: boolean) => {
      own.clear();
      const blobs = new Blobs();
      const shown: unknown[] = [];
      const counting: Git = {
        ...own,
        diffTree: (before, after, limitMs, how) => {
          shown.push(how!.show);
          return own.diffTree(before, after, limitMs, how);
        },
      };
      const [a, b] = [blobs.tree(from), blobs.tree(to)];
      const files = await diffTrees({ from: a, to: b, readBlobs: blobs.read, git: counting, paths, patches });
      const read = [...blobs.asked].map((sha) => blobs.byHash.get(sha)!.toString()).toSorted();
      return { files, read, shown };
    };
    const filesOf = (...paths: string[]) => whole.filter((file) => paths.includes(file.path));
    expect(await of(['a'])).toEqual({
      files: filesOf('a'),
      read: [from['a'], to['a']].toSorted(),
      shown: ['patches'],
    });
    for (const name of ['old/n', 'new/n'])
      expect(await of([name])).toEqual({
        files: filesOf('new/n'),
        read: [from['old/n'], 'g\n', 'm\n', to['new/n']].toSorted(),
        shown: ['names', 'patches'],
      });
    expect(await of(['same', 'unknown', 'new', 'A'])).toEqual({ files: [], read: [], shown: [] });
    expect((await of(['gone', 'made', 'b'], true)).files).toEqual(filesOf('gone', 'made', 'b'));
    const brief = await of(['b'], false);
    expect([brief.files, brief.shown]).toEqual([
      [{ path: 'b', status: 'modified', binary: false, additions: 1, deletions: 1 }],
      ['counts'],
    ]);
    own.close();
  });

  test('without patches has the counts alone', async () => {
    const blobs = new Blobs();
    const from = blobs.tree({ a: lines(200_001), b: lines(9), pic: Buffer.from([0, 1]) });
    const to = blobs.tree({
      a: lines(200_001, { 7: 'X' }),
      c: lines(9, { 3: 'X' }),
      pic: Buffer.from([0, 2]),
    });
    const input = { from, to, readBlobs: blobs.read, git };
    const whole = await diffTrees(input);
    expect(await diffTrees({ ...input, patches: false })).toEqual(
      whole.map(({ patch: _patch, truncated: _truncated, ...file }) => file),
    );
    expect(whole.map((f) => [f.truncated, f.patch !== undefined])).toEqual([
      [true, false],
      [undefined, true],
      [undefined, false],
    ]);
  });

  test('of equal trees is empty', async () => {
    expect((await diff({ a: 'a\n' }, { a: 'a\n' })).files).toEqual([]);
  });

  test('stops patches at 8 MiB in all and marks what is left out', async () => {
    const text = (word: string): string => `${word.repeat(62)}\n`.repeat((3 * MiB) / 63);
    const { files } = await diff({}, { a: text('a'), b: text('b'), c: text('c'), d: 'small\n' });
    expect(files.map((f) => [f.path, f.additions, f.patch !== undefined, f.truncated ?? false])).toEqual([
      ['a', 49932, true, false],
      ['b', 49932, true, false],
      ['c', 49932, false, true],
      ['d', 1, true, false],
    ]);
  });

  test('leaves out a patch that is not UTF-8', async () => {
    const { files } = await diff({ a: Buffer.from([0xff, 10]) }, { a: Buffer.from([0xfe, 10]) });
    expect(files).toEqual([
      { path: 'a', status: 'modified', binary: false, additions: 1, deletions: 1, truncated: true },
    ]);
  });

  test('tells a file of very many lines without patch', async () => {
    const { files } = await diff(
      { a: lines(200_001), b: lines(9) },
      { a: lines(200_001, { 7: 'X\nY', 200_000: 'Z' }), b: lines(9, { 1: 'X' }) },
    );
    expect(files.map(({ patch, ...f }) => ({ ...f, patch: patch !== undefined }))).toEqual([
      {
        path: 'a',
        status: 'modified',
        binary: false,
        additions: 199_995,
        deletions: 199_994,
        truncated: true,
        patch: false,
      },
      { path: 'b', status: 'modified', binary: false, additions: 1, deletions: 1, patch: true },
    ]);
  });

  test('told coarsely what git has not compared in time', async () => {
    const blobs = new Blobs();
    let asked = 0;
    const slow: Git = {
      ...git,
      diffTree: (...args) =>
        asked++ < 2 ? Promise.reject(new GitFailure('late', { timedOut: true })) : git.diffTree(...args),
    };
    const files = await diffTrees({
      from: blobs.tree({ a: lines(9) }),
      to: blobs.tree({ a: lines(9, { 2: 'X' }), n: 'n\n' }),
      readBlobs: blobs.read,
      git: slow,
    });
    expect(brief(files)).toEqual({ a: ['modified', false, 1, 1, false], n: ['added', false, 1, 0, true] });
  });

  test('without moved files that were edited where git has not found them in time', async () => {
    const blobs = new Blobs();
    const slow: Git = {
      ...git,
      diffTree: (from, to, limitMs, how) =>
        how?.renames === 'identical'
          ? git.diffTree(from, to, limitMs, how)
          : Promise.reject(new GitFailure('late', { timedOut: true })),
    };
    const files = await diffTrees({
      from: blobs.tree({ a: lines(9), b: lines(7) }),
      to: blobs.tree({ c: lines(9, { 2: 'X' }), d: lines(7) }),
      readBlobs: blobs.read,
      git: slow,
    });
    expect(brief(files)).toEqual({
      a: ['deleted', false, 0, 9, true],
      c: ['added', false, 9, 0, true],
      d: ['renamed', false, 0, 0, false],
    });
  });

  test('does not obey .gitattributes', async () => {
    const { files } = await diff(
      { '.gitattributes': '* binary\n', a: 'a\n' },
      { '.gitattributes': '* binary\n', a: 'b\n' },
    );
    expect(brief(files)).toEqual({ a: ['modified', false, 1, 1, true] });
  });

  test('git apply makes the new files of the old ones by the patches', async () => {
    const from: Literal = {
      'a.txt': lines(30),
      'b/gone': 'x\ny\n',
      'c d': 'no end',
      'ä "q"\'': lines(9),
      'old/n': lines(40),
      crlf: 'a\r\nb\r\n',
      'tool.sh': '#!\n',
    };
    const to: Literal = {
      'a.txt': lines(30, { 28: 'L' }).replace('line 2\n', ''),
      'new/e': x('neu\n'),
      'c d': 'no end\nmore',
      'ä "q"\'': lines(9, { 4: 'ü' }),
      'new/n': lines(40, { 20: 'X' }),
      crlf: 'a\r\nB\r\n',
      'tool.sh': x('#!!\n'),
      'diff --git a/x b/x': 'diff --git a/x b/x\n',
    };
    const { files } = await diff(from, to);
    expect(files.every((f) => f.patch)).toBe(true);
    const work = join(dir, 'work');
    for (const [path, content] of Object.entries(from)) {
      mkdirSync(dirname(join(work, path)), { recursive: true });
      writeFileSync(join(work, path), content as string);
    }
    writeFileSync(join(dir, 'patch'), files.map((f) => f.patch).join(''));
    const env = { PATH: process.env['PATH'], HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' };
    execFileSync('git', ['init', '-q', '.'], { cwd: work, env });
    execFileSync('git', ['apply', '--whitespace=nowarn', join(dir, 'patch')], { cwd: work, env });
    const got = execFileSync('git', ['ls-files', '-o', '-z'], { cwd: work, env })
      .toString()
      .split('\0')
      .filter(Boolean);
    expect(got.sort()).toEqual(Object.keys(to).sort());
    for (const path of got) {
      const { content, executable } =
        typeof to[path] === 'string'
          ? { content: to[path], executable: false }
          : (to[path] as { content: string; executable: boolean });
      expect([
        readFileSync(join(work, path), 'utf8'),
        (statSync(join(work, path)).mode & 0o100) !== 0,
      ]).toEqual([content, executable]);
    }
  });
});
