import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createBareRepository } from '../../git/bare-repository.ts';
import { commitFiles } from '../../git/git.fixture.ts';
import { linksOfCommit } from './commit-files.ts';

let folder: string, dir: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'headrace-links-'));
  dir = join(folder, 'r.git');
  await createBareRepository(dir, { defaultBranch: 'main' });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('a link that is longer than any file system takes is not read, and not there', async () => {
  const commitSha = await commitFiles(dir, 'main', [
    { path: 'l', content: 'a', mode: '120000' },
    { path: 'm', content: Buffer.alloc(65 * 1024 * 1024, 'x'), mode: '120000' },
    { path: 'n', content: 'm', mode: '120000' },
  ]);
  expect([...(await linksOfCommit(dir, commitSha))]).toEqual([['l', 'a']]);
});
