import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openLocalFolder } from '../local/repository-folder.ts';
import { startBackend } from './backend.ts';

let dataDir: string, dir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'headrace-backend-'));
  dir = await openLocalFolder({ dataDir }, { id: 'repo_1', default_branch: 'main' });
});
afterAll(() => rm(dataDir, { recursive: true, force: true }));

const LONG = { ms: 60_000, idleMs: 60_000 };
const FETCH = { service: 'git-upload-pack', isAdvertisement: false, protocol: undefined } as const;

test('git is ended where nothing moves, and where it takes too long', async () => {
  for (const limits of [
    { ...LONG, idleMs: 50 },
    { ...LONG, ms: 50 },
  ]) {
    const backend = await startBackend({ dir, ...FETCH }, limits);
    await backend.ended;
    expect(backend.stopped?.message).toMatch(/nothing moved for 50 ms|took over 50 ms/);
  }
});

test('a protocol that is none is not passed on', async () => {
  const answers = await Promise.all(
    ['version=2', 'version=2\nX: y', 'x'.repeat(101)].map(async (protocol) => {
      const backend = await startBackend(
        { dir, service: 'git-upload-pack', isAdvertisement: true, protocol },
        LONG,
      );
      backend.input.end();
      expect(await backend.readHead()).toEqual({
        status: 200,
        type: 'application/x-git-upload-pack-advertisement',
      });
      return (await text(backend.output)).includes('version 2');
    }),
  );
  expect(answers).toEqual([true, false, false]);
});

test('a folder that is none of a repository is no answer', async () => {
  const backend = await startBackend({ dir: join(dataDir, 'none.git'), ...FETCH }, LONG);
  await expect(backend.readHead()).rejects.toThrow();
  await expect(backend.ended).rejects.toThrow('ENOENT');
});
