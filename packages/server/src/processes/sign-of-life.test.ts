import { hostname } from 'node:os';
import { expect, test } from 'vitest';
import { startTestServer } from '../service.fixture.ts';

test('a process is listed with its roles and what its runner reports, until it stops', async () => {
  const api = await startTestServer({ HEADRACE_ROLES: 'api' });
  try {
    const { db } = api.service.ctx;
    const rows = () => db.selectFrom('processes').selectAll().where('id', '<>', 'wrk_elsewhere').execute();
    const listed = async (id: string) => (await rows()).find((row) => row.id === id);
    expect(await listed(api.service.ctx.processId)).toMatchObject({
      host: hostname(),
      roles: ['api'],
      sandbox_seen_at: null,
      runner: null,
    });
    const worker = await startTestServer({ HEADRACE_ROLES: 'worker,runner,api' }, api);
    const { processId } = worker.service.ctx;
    try {
      const row = (await listed(processId))!;
      expect(row.roles).toEqual(['worker', 'runner', 'api']);
      expect(row.last_seen_at.getTime() - row.started_at.getTime()).toBeLessThan(5_000);
      expect(row.sandbox_seen_at).not.toBeNull();
      expect(row.runner).toMatchObject({
        id: worker.service.ctx.runnerStatus()!.id,
        ok: true,
        sandboxes: 0,
        memoryBytes: expect.any(Number) as number,
        egressRefused: 0,
      });
    } finally {
      await worker.close();
    }
    expect(await listed(processId)).toBeUndefined();
  } finally {
    await api.close();
  }
});

test('a worker whose runner breaks says so within a second or two', async () => {
  const s = await startTestServer();
  try {
    const { ctx } = s.service;
    const { runnerStatus } = ctx;
    ctx.runnerStatus = () => ({ ...runnerStatus()!, ok: false, missing: ['install bubblewrap'] });
    await expect
      .poll(
        () =>
          ctx.db
            .selectFrom('processes')
            .select(['sandbox_seen_at', 'runner'])
            .where('id', '=', ctx.processId)
            .executeTakeFirst(),
        { timeout: 10_000 },
      )
      .toMatchObject({ sandbox_seen_at: null, runner: { ok: false, warnings: ['install bubblewrap'] } });
    ctx.runnerStatus = runnerStatus;
  } finally {
    await s.close();
  }
});
