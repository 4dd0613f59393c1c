import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { PUT_MS, stageBlobs } from './stage.ts';
import { makeProject, openTestContext, treeOf } from './sources.fixture.ts';
import type { TestContext } from './sources.fixture.ts';

let ctx: TestContext;
let close: () => Promise<void>;
beforeAll(async () => ({ ctx, close } = await openTestContext()));
afterAll(() => close());
afterEach(() => {
  vi.useRealTimers();
});

test('a store that does not answer is given up; what it takes later is removed', async () => {
  const project = await makeProject(ctx);
  const isTaken = Promise.withResolvers<void>();
  const put = vi.fn((_key: string) => isTaken.promise);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const staged = stageBlobs(
    { ...ctx, store: { ...ctx.store, put } },
    project,
    treeOf({ a: 'late' }).blobs,
  ).then(
    () => 'staged',
    (error: { code: string }) => error.code,
  );
  await vi.waitUntil(() => put.mock.calls.length === 1);
  await vi.advanceTimersByTimeAsync(PUT_MS - 1);
  expect(await Promise.race([staged, Promise.resolve('waiting')])).toBe('waiting');
  await vi.advanceTimersByTimeAsync(1);
  expect(await staged).toBe('source_storage_unavailable');
  const row = () =>
    ctx.db
      .selectFrom('objects')
      .select('delete_after')
      .where('key', '=', put.mock.calls[0]![0])
      .executeTakeFirst();
  expect((await row())?.delete_after).toBeInstanceOf(Date);
  // The cleanup has been there before it was taken.
  await ctx.db.deleteFrom('objects').execute();
  isTaken.resolve();
  await vi.waitUntil(async () => (await row())?.delete_after instanceof Date);
});
