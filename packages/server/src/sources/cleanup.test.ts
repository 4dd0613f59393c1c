import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { StorageUnavailableError } from '../storage/object-store.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { cleanUp } from '../teardown/cleanup.ts';
import { readBlobs } from './contents.ts';
import { abandon, stageBlobs } from './stage.ts';
import { makeProject, openTestContext, storeFiles, treeOf } from './sources.fixture.ts';
import type { TestContext } from './sources.fixture.ts';

let ctx: TestContext;
let close: () => Promise<void>;
beforeAll(async () => ({ ctx, close } = await openTestContext(60)));
afterAll(() => close());

const keysOf = async (projectId: string) =>
  (await ctx.db.selectFrom('objects').select('key').where('project_id', '=', projectId).execute()).map(
    (o) => o.key,
  );
const isStored = async (key: string) => (await ctx.store.head(key)) !== null;
const age = (projectId: string, seconds: number) =>
  ctx.db
    .updateTable('objects')
    .set({ created_at: sql<Date>`now() - ${seconds} * interval '1 second'` })
    .where('project_id', '=', projectId)
    .execute();
const markDeleted = async (projectId: string, secondsAgo: number) => {
  await ctx.db
    .updateTable('projects')
    .set({ deleted_at: sql<Date>`now() - ${secondsAgo} * interval '1 second'` })
    .where('id', '=', projectId)
    .execute();
  await ctx.db
    .updateTable('objects')
    .set({ delete_after: sql<Date>`now() + ${60 - secondsAgo} * interval '1 second'` })
    .where('project_id', '=', projectId)
    .execute();
};

describe('objects', () => {
  test('of live projects stay, however old', async () => {
    const project = await makeProject(ctx);
    await storeFiles(ctx, project, { a: 'kept' });
    await age(project.id, 1_000_000);
    await cleanUp(ctx);
    expect((await readBlobs(ctx, project.id, treeOf({ a: 'kept' }).blobs.keys())).size).toBe(1);
  });

  test('of interrupted uploads go after the grace, not before', async () => {
    const project = await makeProject(ctx);
    const staged = await stageBlobs(ctx, project, treeOf({ a: 'interrupted' }).blobs);
    await cleanUp(ctx);
    expect(await isStored(staged!.objectKey)).toBe(true);
    await age(project.id, 61);
    await cleanUp(ctx);
    expect(await isStored(staged!.objectKey)).toBe(false);
    expect(await keysOf(project.id)).toEqual([]);
  });

  test('that were abandoned go at once; of a stored source nothing can be abandoned', async () => {
    const project = await makeProject(ctx);
    await storeFiles(ctx, project, { a: 'stored' });
    const [key] = await keysOf(project.id);
    const staged = await stageBlobs(ctx, project, treeOf({ a: 'abandoned' }).blobs);
    await abandon(ctx, project, staged);
    await abandon(ctx, project, { ...staged!, objectKey: key! });
    await cleanUp(ctx);
    expect(await keysOf(project.id)).toEqual([key]);
    expect([await isStored(key!), await isStored(staged!.objectKey)]).toEqual([true, false]);
  });

  test('whose deletion fails are tried again later, and then go', async () => {
    const project = await makeProject(ctx);
    const staged = await stageBlobs(ctx, project, treeOf({ a: 'stubborn' }).blobs);
    await abandon(ctx, project, staged);
    const failing = {
      ...ctx,
      store: Object.assign(Object.create(ctx.store) as ObjectStore, {
        delete: vi.fn<ObjectStore['delete']>().mockRejectedValue(new StorageUnavailableError('away')),
      }),
    };
    await cleanUp(failing);
    await cleanUp(failing);
    const row = await ctx.db
      .selectFrom('objects')
      .select(['attempts', sql<number>`extract(epoch from delete_after - now())::int`.as('wait')])
      .where('project_id', '=', project.id)
      .executeTakeFirstOrThrow();
    expect(failing.store.delete).toHaveBeenCalledTimes(1);
    expect(row.attempts).toBe(1);
    expect(row.wait).toBeGreaterThan(0);
    await ctx.db
      .updateTable('objects')
      .set({ delete_after: sql<Date>`now()` })
      .where('project_id', '=', project.id)
      .execute();
    await cleanUp(ctx);
    expect(await isStored(staged!.objectKey)).toBe(false);
  });
});

describe('a deleted project', () => {
  test('keeps everything during the grace, and loses sources, packs, blobs and objects after it', async () => {
    const project = await makeProject(ctx);
    const first = await storeFiles(ctx, project, { a: 'gone' });
    await storeFiles(ctx, project, { a: 'gone', b: 'too' }, [first.id]);
    const keys = await keysOf(project.id);
    await markDeleted(project.id, 30);
    await cleanUp(ctx);
    expect(await Promise.all(keys.map(isStored))).toEqual([true, true]);
    await markDeleted(project.id, 61);
    await cleanUp(ctx);
    expect(await Promise.all(keys.map(isStored))).toEqual([false, false]);
    for (const table of ['sources', 'packs', 'blobs', 'objects'] as const)
      expect(
        await ctx.db.selectFrom(table).select('project_id').where('project_id', '=', project.id).execute(),
      ).toEqual([]);
  });
});
