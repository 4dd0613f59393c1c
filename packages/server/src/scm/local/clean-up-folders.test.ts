import { mkdir, readdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer } from '../../service.fixture.ts';
import type { TestServer } from '../../service.fixture.ts';
import { newRepository } from '../git-http/git-http.fixture.ts';
import { cleanUpLocalFolders } from './clean-up-folders.ts';
import { localFolder } from './folders.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api', HEADRACE_CLEANUP_GRACE_SECONDS: '600' });
});
afterAll(() => s?.close());

test('a folder goes with its repository, after the grace; one that no row names stays', async () => {
  const { ctx } = s.service;
  const [live, deleted] = [await newRepository(s), await newRepository(s)];
  await mkdir(localFolder(ctx.config, 'repo_other'));
  await ctx.db
    .updateTable('repositories')
    .set({ deleted_at: new Date() })
    .where('id', '=', deleted.id)
    .execute();
  const folders = async () => (await readdir(dirname(live.dir))).sort();
  const all = [`${live.id}.git`, `${deleted.id}.git`, 'repo_other.git'].sort();
  await cleanUpLocalFolders(ctx);
  expect(await folders()).toEqual(all);
  await cleanUpLocalFolders({ ...ctx, clock: { offsetMs: 601_000 } });
  expect(await folders()).toEqual(all.filter((name) => name !== `${deleted.id}.git`));
});
