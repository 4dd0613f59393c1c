import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { draftsOf } from './applies.fixture.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

test('after a second a project gives way to others, and goes on with its next job', async () => {
  const d = draftsOf(server);
  const { ctx } = server.service;
  const { merger } = ctx;
  const draft = await d.diverged({ a: 'a\n' }, { b: 'b\n' }, { c: 'c\n' });
  const next = await d.draft(draft.appId, draft.base, { e: 'e\n' });
  const jobs: number[] = [];
  ctx.merger = {
    ...merger,
    async merge(request) {
      const began = performance.now();
      jobs.push(
        (
          await ctx.db
            .selectFrom('jobs')
            .select('id')
            .where('key', '=', `apply:${draft.appId}`)
            .where('status', '=', 'active')
            .executeTakeFirstOrThrow()
        ).id,
      );
      await vi.waitFor(() => expect(performance.now() - began).toBeGreaterThan(1_000), 5_000);
      return merger.merge(request);
    },
  };
  const queued = [await d.queue(draft), await d.queue(next)];
  for (const { id } of queued) expect(await d.ended(draft.appId, id)).toMatchObject({ status: 'applied' });
  ctx.merger = merger;
  expect(new Set(jobs).size).toBe(2);
});
