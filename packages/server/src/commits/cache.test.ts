import { existsSync } from 'node:fs';
import { mkdir, readdir, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Context } from '../context.ts';
import { runGit } from '../git/run-git.ts';
import { newId } from '../ids.ts';
import { openTestContext } from '../sources/sources.fixture.ts';
import { openCache, sweepCaches } from './cache.ts';
import { makeDataFolder, openUpstream, Upstream } from './commits.fixture.ts';
import { fetchCommit } from './fetch-commit.ts';

const folder = makeDataFolder();
const upstream = new Upstream();
let database: Awaited<ReturnType<typeof openTestContext>>;
beforeAll(async () => {
  database = await openTestContext();
});
afterAll(async () => {
  await database.close();
  upstream.remove();
  folder.remove();
});

async function insertRepository(id: string, deletedAt: Date | null): Promise<void> {
  const { db } = database.ctx;
  const orgId = newId('org');
  const installationId = newId('ins');
  await db.insertInto('organizations').values({ id: orgId, name: 'Test' }).execute();
  const provider = 'local' as const;
  await db
    .insertInto('installations')
    .values({ org_id: orgId, id: installationId, provider, name: 'x', auth: 'none', managed_by: 'service' })
    .execute();
  await db
    .insertInto('repositories')
    .values({
      org_id: orgId,
      id,
      installation_id: installationId,
      provider,
      external_id: id,
      full_name: 'x',
      name: 'x',
      default_branch: 'main',
      deleted_at: deletedAt,
    })
    .execute();
}

test('caches of deleted repositories go; of the others those with many packs become one, with every commit', async () => {
  const ctx = { ...database.ctx, config: folder.ctx.config } as Context;
  const [kept, deleted] = [openUpstream(upstream), openUpstream(upstream)];
  await insertRepository(kept.at.repository.id, null);
  await insertRepository(deleted.at.repository.id, new Date());
  const tips: string[] = [];
  for (let n = 0; n < 33; n++) tips.push(upstream.commit({ 'a.txt': `${n}\n` }));
  await fetchCommit(ctx, deleted, { commitSha: tips[0]! });
  for (const commitSha of tips) await fetchCommit(ctx, kept, { commitSha });
  const { dir } = await openCache(ctx, kept);
  const packs = async () =>
    (await readdir(join(dir, 'objects', 'pack'))).filter((name) => name.endsWith('.pack'));
  expect(await packs()).toHaveLength(33);

  for (const name of ['tmp-killed', 'tmp-at-work']) await mkdir(join(dir, name));
  await utimes(join(dir, 'tmp-killed'), 1, 1);
  await sweepCaches(ctx);
  expect((await readdir(dir)).filter((name) => name.startsWith('tmp-'))).toEqual(['tmp-at-work']);
  expect(await packs()).toHaveLength(1);
  for (const tip of tips) await runGit(dir, ['cat-file', '-e', `${tip}:a.txt`]);
  expect(existsSync(dir)).toBe(true);
  const folders = await readdir(join(folder.ctx.config.dataDir, 'git-cache'));
  expect(folders).toEqual([`${kept.at.repository.id}.git`]);
});
