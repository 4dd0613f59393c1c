import { hostname } from 'node:os';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createTestDatabase } from '../db/database.fixture.ts';
import { openDatabase } from '../db/database.ts';
import { json } from '../db/schema.ts';
import type { RunnerReport } from '../db/schema.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { recordFirst } from './store.ts';

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

describe('a second worker', () => {
  const another = /Another worker runs on this database, on .* with another runner.*many-machines\.md/s;
  let first: TestServer;
  beforeAll(async () => {
    first = await startTestServer({ HEADRACE_ROLES: 'worker,runner' });
  });
  afterAll(() => first.close());
  const start = async (env: Record<string, string> = {}) =>
    (await startTestServer({ HEADRACE_ROLES: 'worker', ...env }, first)).close();

  test('with another runner refuses to start, while the first one lives or may live', async (t) => {
    if (!first.service.ctx.runnerStatus()) t.skip('no runner can be started here');
    await expect(start()).rejects.toThrow(another);
    const { db, processId } = first.service.ctx;
    const listed = await db.selectFrom('processes').select('id').execute();
    expect(listed.map(({ id }) => id)).toEqual([processId]);
    await db
      .updateTable('processes')
      .set({ roles: ['api', 'runner'] })
      .execute();
    await start();
  });

  test('with the same data folder starts, and so does an API process', async () => {
    await start({ HEADRACE_DATA_DIR: first.service.ctx.config.dataDir });
    await start({ HEADRACE_ROLES: 'api' });
  });
});

describe('whom a worker that starts must not be beside', () => {
  const report = (id: string) => ({ id }) as RunnerReport;
  const HERE = { host: 'here', runner: report('rnr_1') };
  test.each<[string, { host: string; runner: RunnerReport | null; secondsAgo?: number }, boolean, boolean]>([
    ['the same runner', { host: 'a container', runner: report('rnr_1') }, false, false],
    ['another runner', { host: 'here', runner: report('rnr_2') }, false, true],
    ['another runner, silent', { host: 'here', runner: report('rnr_2'), secondsAgo: 31 }, false, false],
    ['no runner, elsewhere', { host: 'there', runner: null }, false, true],
    ['no runner, here', { host: 'here', runner: null }, false, false],
    ['a runner, for a fleet', { host: 'there', runner: report('rnr_2') }, true, true],
    ['a fleet, for a fleet', { host: 'there', runner: null }, true, false],
  ])('%s', async (_, { secondsAgo = 0, ...other }, isInFleet, isRefused) => {
    const database = await createTestDatabase();
    onTestFinished(() => database.drop());
    const { db, close } = openDatabase(database.connection, { max: 2 });
    onTestFinished(close);
    const lastSeen = sql<Date>`now() - ${secondsAgo} * interval '1 second'`;
    await db
      .insertInto('processes')
      .values({
        id: 'wrk_1',
        host: other.host,
        roles: ['worker'],
        runner: other.runner && json(other.runner),
        last_seen_at: lastSeen,
      })
      .execute();
    const own = {
      ...HERE,
      ...(isInFleet && { runner: null }),
      id: 'wrk_2',
      roles: ['worker'],
      sandbox: 'works' as const,
    };
    expect(await recordFirst(db, own, isInFleet)).toBe(isRefused ? other.host : null);
  });
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
