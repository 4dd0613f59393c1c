import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createBareRepository } from './bare-repository.ts';
import { commitFiles } from './git.fixture.ts';
import { isAncestor, mergeTrees, rebaseCommits } from './merge-commits.ts';
import { runGit } from './run-git.ts';

let folder: string, dir: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'headrace-merge-'));
  dir = join(folder, 'a.git');
  await createBareRepository(dir, { defaultBranch: 'main' });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const text = async (...args: string[]) => (await runGit(dir, args)).output.toString('utf8').trim();
const file = (path: string, content: string) => ({ path, content });
const branchAt = (name: string, commit: string) => runGit(dir, ['update-ref', `refs/heads/${name}`, commit]);
const committer = { person: { name: 'Ü', email: 'u@localhost' }, date: new Date(1_700_000_000_000) };

test('two commits merge or are in conflict; without common history they do not merge', async () => {
  const base = await commitFiles(dir, 'm-base', [file('a', 'one\n')]);
  await branchAt('m-ours', base);
  await branchAt('m-theirs', base);
  const ours = await commitFiles(dir, 'm-ours', [file('a', 'two\n')]);
  const theirs = await commitFiles(dir, 'm-theirs', [file('a', 'one\n'), file('b', 'b\n')]);
  const tree = await mergeTrees(dir, ours, theirs);
  expect(await text('ls-tree', '--name-only', tree!)).toBe('a\nb');
  const other = await commitFiles(dir, 'm-theirs', [file('a', 'three\n')]);
  const alone = await commitFiles(dir, 'm-alone', [file('c', 'c\n')]);
  expect([await mergeTrees(dir, ours, other), await mergeTrees(dir, ours, alone)]).toEqual([null, null]);
  await expect(mergeTrees(dir, ours, '1'.repeat(40))).rejects.toThrow();
  expect([await isAncestor(dir, base, ours), await isAncestor(dir, ours, theirs)]).toEqual([true, false]);
});

describe('a rebase', () => {
  test('copies each commit with its author, date and bytes upon the base, without merges', async () => {
    const start = await commitFiles(dir, 'r-base', [file('a', 'one\n')]);
    await branchAt('r-head', start);
    await commitFiles(dir, 'r-head', [file('a', 'one\n'), file('b', 'b\n')], 'Add b\n\nWith \u00fc.');
    const head = await commitFiles(dir, 'r-head', [file('a', 'one\n'), file('b', 'b2\n')], 'Change b');
    const base = await commitFiles(dir, 'r-base', [file('a', 'two\n')]);
    const merged = await text('commit-tree', '-p', head, '-p', base, '-m', 'merge', `${head}^{tree}`).catch(
      () => head,
    );
    const tip = await rebaseCommits(dir, { base, head: merged }, committer);
    expect(await text('log', '--format=%an %at %cn %s', `${base}..${tip}`)).toBe(
      'Ada 1700000000 Ü Change b\nAda 1700000000 Ü Add b',
    );
    expect(await text('show', `${tip}:a`)).toBe('two');
    expect(await text('show', `${tip}:b`)).toBe('b2');
  });

  test('leaves out what the base has already, and gives the base where nothing is left', async () => {
    const start = await commitFiles(dir, 's-base', [file('a', 'one\n')]);
    await branchAt('s-head', start);
    const head = await commitFiles(dir, 's-head', [file('a', 'two\n')], 'Change a');
    await commitFiles(dir, 's-base', [file('a', 'one\n'), file('c', 'c\n')]);
    const base = await commitFiles(dir, 's-base', [file('a', 'two\n'), file('c', 'c\n')], 'The same');
    expect(await rebaseCommits(dir, { base, head }, committer)).toBe(base);
  });

  test('is refused where a commit is in conflict', async () => {
    const start = await commitFiles(dir, 'c-base', [file('a', 'one\n')]);
    await branchAt('c-head', start);
    const head = await commitFiles(dir, 'c-head', [file('a', 'two\n')]);
    const base = await commitFiles(dir, 'c-base', [file('a', 'three\n')]);
    expect(await rebaseCommits(dir, { base, head }, committer)).toBeNull();
  });
});
