import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commitFiles } from '../../git/git.fixture.ts';
import { listBranches } from '../../git/read.ts';
import { runGit } from '../../git/run-git.ts';
import { copyRepository } from './copy-repository.ts';
import { openLocalFolder } from './repository-folder.ts';

let folder: string, from: string;
const ROW = { id: 'repo_1', default_branch: 'main' };
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'headrace-copy-'));
  from = await openLocalFolder({ dataDir: folder }, ROW);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('a copy that is made during pushes and packing is whole, and has what is on no branch', async () => {
  const first = await commitFiles(from, 'main', [{ path: 'a', content: 'a' }]);
  const input = { input: 'of nobody' };
  const { output } = await runGit(from, ['hash-object', '-w', '--stdin'], input);
  const done = new AbortController();
  const writing = (async () => {
    for (let i = 0; !done.signal.aborted; i++) {
      await commitFiles(from, `b${i % 5}`, [{ path: 'a', content: String(i) }]);
      await runGit(from, ['repack', '-q', '-d', ...(i % 2 ? ['-a', '-k'] : [])]);
    }
  })();
  try {
    for (let i = 0; i < 2; i++) {
      const dataDir = join(folder, `copy-${i}`);
      await copyRepository({ dataDir: folder }, { dataDir }, ROW);
      const copy = join(dataDir, 'repositories', 'repo_1.git');
      expect(await listBranches(copy)).toContainEqual({ name: 'main', commitSha: first });
      await runGit(copy, ['fsck', '--strict']);
      await runGit(copy, ['cat-file', '-e', output.toString().trim()]);
    }
  } finally {
    done.abort();
    await writing;
  }
});

test('a repository that lacks an object is not copied as if it were whole', async () => {
  const row = { id: 'repo_2', default_branch: 'main' };
  const dir = await openLocalFolder({ dataDir: folder }, row);
  await commitFiles(dir, 'main', [{ path: 'a', content: 'lost' }]);
  const { output } = await runGit(dir, ['rev-parse', 'main:a']);
  const id = output.toString().trim();
  await rm(join(dir, 'objects', id.slice(0, 2), id.slice(2)));
  expect(await readdir(join(dir, 'objects', id.slice(0, 2)))).toEqual([]);
  const dataDir = join(folder, 'copy');
  await expect(copyRepository({ dataDir: folder }, { dataDir }, row)).rejects.toThrow(
    /git fsck: broken link/,
  );
});
