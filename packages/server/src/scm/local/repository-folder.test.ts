import { mkdtemp, readFile, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listBranches } from '../../git/read.ts';
import { commitFiles } from '../../git/git.fixture.ts';
import { openLocalFolder, removeLocalFolder } from './repository-folder.ts';

let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'headrace-local-'));
});
afterAll(() => rm(dataDir, { recursive: true, force: true }));

const row = (id: string, branch: string) => ({ id, default_branch: branch });

test('a folder is made once, by however many at a time, for this account alone', async () => {
  const dirs = await Promise.all(
    Array.from({ length: 4 }, () => openLocalFolder({ dataDir }, row('repo_1', 'trunk'))),
  );
  expect(new Set(dirs).size).toBe(1);
  expect(await readdir(join(dataDir, 'repositories'))).toEqual(['repo_1.git']);
  expect((await stat(join(dataDir, 'repositories'))).mode & 0o077).toBe(0);
  expect((await stat(dirs[0]!)).mode & 0o077).toBe(0);
  expect(await readFile(join(dirs[0]!, 'HEAD'), 'utf8')).toBe('ref: refs/heads/trunk\n');
});

test('its HEAD follows the default branch of the row, and its commits stay', async () => {
  const dir = await openLocalFolder({ dataDir }, row('repo_2', 'main'));
  const commitSha = await commitFiles(dir, 'main', [{ path: 'a', content: 'a' }]);
  await openLocalFolder({ dataDir }, row('repo_2', 'next'));
  expect(await readFile(join(dir, 'HEAD'), 'utf8')).toBe('ref: refs/heads/next\n');
  expect(await listBranches(dir)).toEqual([{ name: 'main', commitSha }]);
  expect((await readdir(dir)).filter((name) => name.startsWith('HEAD'))).toEqual(['HEAD']);
});

test('a folder is removed, also twice', async () => {
  await openLocalFolder({ dataDir }, row('repo_3', 'main'));
  await removeLocalFolder({ dataDir }, 'repo_3');
  await removeLocalFolder({ dataDir }, 'repo_3');
  expect(await readdir(join(dataDir, 'repositories'))).not.toContain('repo_3.git');
});
