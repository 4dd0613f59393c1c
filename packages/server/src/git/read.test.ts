import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createBareRepository } from './bare-repository.ts';
import { commitFiles } from './git.fixture.ts';
import { listTree } from './list-tree.ts';
import { readRefs } from './read-refs.ts';
import { listBranches, resolveCommit } from './read.ts';
import { runGit } from './run-git.ts';

let folder: string, dir: string, main: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'headrace-git-'));
  dir = join(folder, 'a.git');
  await createBareRepository(dir, { defaultBranch: 'main' });
  main = await commitFiles(dir, 'main', [
    { path: 'a.txt', content: 'one\r\n' },
    { path: 'bin/run', content: '#!/bin/sh\n', mode: '100755' },
    { path: 'bin/link', content: '../a.txt', mode: '120000' },
    { path: 'ä\tb', content: '' },
  ]);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('branches come in the order of their bytes, and none from an empty repository', async () => {
  const empty = join(folder, 'empty.git');
  await createBareRepository(empty, { defaultBranch: 'main' });
  expect(await listBranches(empty)).toEqual([]);
  for (const name of ['B', 'a/b', 'a-b']) await runGit(dir, ['update-ref', `refs/heads/${name}`, main]);
  expect(await listBranches(dir)).toEqual(
    ['B', 'a-b', 'a/b', 'main'].map((name) => ({ name, commitSha: main })),
  );
});

describe('a commit', () => {
  test('is found by its branch and by its full id', async () => {
    expect(await resolveCommit(dir, 'main')).toBe(main);
    expect(await resolveCommit(dir, main)).toBe(main);
  });

  test('is not found by anything else', async () => {
    const { output } = await runGit(dir, ['rev-parse', 'main:a.txt']);
    await runGit(dir, ['tag', 'v1', main]);
    const wrong = [main.slice(0, 12), 'HEAD', 'no', 'v1', 'main~0', 'main\nmain', output.toString().trim()];
    for (const ref of [...wrong, '-h', '']) expect([ref, await resolveCommit(dir, ref)]).toEqual([ref, null]);
  });
});

test('refs are read without git, from files and from packed-refs, even if both have a ref', async () => {
  const refs = join(folder, 'refs.git');
  await createBareRepository(refs, { defaultBranch: 'main' });
  const first = await commitFiles(refs, 'main', [{ path: 'a.txt', content: '1' }]);
  for (const name of ['heads/deep/er', 'heads/ä', 'pull/1/head', 'heads/gone'])
    await runGit(refs, ['update-ref', `refs/${name}`, first]);
  const names = ['main', 'deep/er', 'ä', 'deep', 'main/no', 'gone', 'er', '../heads/main'];
  const asked = [...names.map((name) => `refs/heads/${name}`), 'refs/pull/1/head', 'refs/pull/1'];
  const there = (main: string) => [
    ['refs/heads/deep/er', first],
    ['refs/heads/main', main],
    ['refs/heads/ä', first],
    ['refs/pull/1/head', first],
  ];
  const found = async () => [...(await readRefs(refs, asked))].toSorted();
  await runGit(refs, ['update-ref', '-d', 'refs/heads/gone']);
  expect(await found()).toEqual(there(first));
  await runGit(refs, ['pack-refs', '--all']);
  expect(await found()).toEqual(there(first));
  const second = await commitFiles(refs, 'main', [{ path: 'a.txt', content: '2' }]);
  expect(await found()).toEqual(there(second));
});

describe('a tree', () => {
  test('is listed with modes, sizes and the bytes of its paths', async () => {
    const { entries, truncated } = await listTree(dir, main, 4);
    expect(truncated).toBe(false);
    expect(entries.map(({ path, mode, byteSize }) => [path.toString(), mode, byteSize])).toEqual([
      ['a.txt', '100644', 5],
      ['bin/link', '120000', 8],
      ['bin/run', '100755', 10],
      ['ä\tb', '100644', 0],
    ]);
    expect(entries[0]!.object).toMatch(/^[0-9a-f]{40}$/);
  });

  test('is cut at the limit', async () => {
    const { entries, truncated } = await listTree(dir, main, 3);
    expect([entries.length, truncated]).toEqual([3, true]);
  });

  test('of a commit that is not there is an error', async () => {
    await expect(listTree(dir, '0'.repeat(40), 3)).rejects.toThrow('git ls-tree ended (128)');
  });

  test('of long paths is cut off at 64 MiB of them', async () => {
    const files = Array.from({ length: 4_000 }, (_, n) => ({ path: `${n}`, content: '' }));
    const commit = await commitFiles(dir, 'bomb', files);
    let tree = (await runGit(dir, ['rev-parse', `${commit}^{tree}`])).output.toString().trim();
    for (let depth = 0; depth < 80; depth++) tree = await inFolder(dir, tree, 'd'.repeat(250));
    const { entries, truncated } = await listTree(dir, tree, 4_000);
    expect(truncated).toBe(true);
    expect(entries.length).toBeLessThan(4_000);
  });
});

/** A tree with one folder. */
async function inFolder(gitDir: string, tree: string, name: string): Promise<string> {
  const input = `040000 tree ${tree}\t${name}\n`;
  return (await runGit(gitDir, ['mktree'], { input })).output.toString().trim();
}
