import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createBareRepository } from './bare-repository.ts';
import { commitFiles } from './git.fixture.ts';
import { listTree } from './list-tree.ts';
import { readGitBlobs } from './read-blobs.ts';

let folder: string, dir: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'headrace-git-'));
  dir = join(folder, 'a.git');
  await createBareRepository(dir, { defaultBranch: 'main' });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function read(ids: string[]): Promise<Buffer[]> {
  const read: Buffer[] = [];
  for await (const { bytes } of readGitBlobs(dir, ids)) read.push(bytes);
  return read;
}

test('blobs come in the order asked for, whatever their bytes and sizes', async () => {
  const contents = [Buffer.alloc(300_000, 7), Buffer.from('line\nblob 5\n'), Buffer.alloc(0)];
  const commit = await commitFiles(
    dir,
    'main',
    contents.map((content, n) => ({ path: `${n}`, content })),
  );
  const ids = (await listTree(dir, commit, 10)).entries.map(({ object }) => object);
  expect(await read(ids)).toEqual(contents);
  expect(await read([ids[2]!, ids[0]!, ids[2]!])).toEqual([contents[2], contents[0], contents[2]]);
  expect(await read([])).toEqual([]);
});

test('a blob that is missing, or no blob, is an error', async () => {
  const commit = await commitFiles(dir, 'other', [{ path: 'a', content: 'a' }]);
  await expect(read(['1'.repeat(40)])).rejects.toThrow('git cat-file has no blob (missing)');
  await expect(read([commit])).rejects.toThrow('git cat-file has no blob (commit)');
  await expect(
    (async () => {
      for await (const _ of readGitBlobs(join(folder, 'none.git'), [commit]));
    })(),
  ).rejects.toThrow();
});
