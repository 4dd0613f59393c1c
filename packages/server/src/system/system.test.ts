import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signedIn } from '../accounts/callers.fixture.ts';
import { SETTINGS } from '../config.ts';
import { json } from '../db/schema.ts';
import type { RunnerReport } from '../db/schema.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { newApp, ok, P, sh } from '../threads/threads.fixture.ts';

const SECRET = 'a secret key that nobody may read at all';

let s: TestServer;
let cookie: string;
beforeAll(async () => {
  s = await startTestServer({
    HEADRACE_ROLES: 'api',
    HEADRACE_SECRET_KEY: SECRET,
    HEADRACE_IDLE_TIMEOUT_MINUTES: '11',
  });
  cookie = await signedIn(s);
});
afterAll(async () => {
  await s?.close();
});

const read = async () => (await ok(s.call('GET', '/api/system', undefined, { cookie }))).system;
const partOf = async (name: string) =>
  (await read()).parts.find((part: { name: string }) => part.name === name);

const REPORT: RunnerReport = {
  id: 'local',
  driver: 'bubblewrap',
  ok: true,
  limits: { memory: 'cgroup', processes: 'cgroup', cpu: 'none' },
  warnings: ['no share of the processors'],
  sandboxes: 3,
  memoryBytes: 8_000,
  freeBytes: 5_000,
  egressRefused: 7,
};
/** A worker on another host, until `work` has ended. */
async function withWorker(
  { host, seconds, runner }: { host: string; seconds: number; runner: RunnerReport | null },
  work: () => Promise<void>,
): Promise<void> {
  const { db } = s.service.ctx;
  await db
    .insertInto('processes')
    .values({
      id: `wrk_${host}`,
      host,
      roles: ['worker', 'runner'],
      last_seen_at: sql<Date>`now() - ${seconds} * interval '1 second'`,
      runner: runner && json(runner),
    })
    .execute();
  try {
    await work();
  } finally {
    await db.deleteFrom('processes').where('id', '=', `wrk_${host}`).execute();
  }
}

describe('200', () => {
  test('parts, log, database and storage of a service that works', async () => {
    await newApp(s);
    const system = await read();
    expect(system.parts.map((part: { name: string }) => part.name)).toEqual([
      'database',
      'storage',
      'sandbox',
      'limiter',
      'publisher',
      'gateway',
    ]);
    for (const { status, message } of system.parts) expect(status === 'ok').toBe(message === null);
    expect(system).toMatchObject({
      version: s.service.ctx.version,
      log: { lagMs: expect.any(Number), retainedFrom: expect.stringMatching(/^20/) },
      database: { version: expect.stringMatching(/^\d+/), byteSize: expect.any(Number) },
      storage: { kind: 'folder', byteSize: expect.any(Number) },
    });
    expect(Date.parse(system.startedAt)).toBeLessThan(Date.now());
    expect(system.database.connections).toBeGreaterThan(0);
    expect(system.storage.byteSize).toBeGreaterThan(0);
  });

  test('the process that answers is listed; runners as living workers report them', async () => {
    await withWorker({ host: 'far', seconds: 1, runner: REPORT }, async () => {
      await withWorker({ host: 'silent', seconds: 100, runner: REPORT }, async () => {
        const { processes, runners } = await read();
        const own = processes.find((process: { id: string }) => process.id === s.service.ctx.processId);
        expect(own).toMatchObject({ roles: ['api'] });
        expect(Date.now() - Date.parse(own.lastSeenAt)).toBeLessThan(30_000);
        expect(processes.map((process: { id: string }) => process.id)).toEqual(
          expect.arrayContaining(['wrk_far', 'wrk_silent']),
        );
        const { ok: _, ...reported } = REPORT;
        expect(runners).toEqual([{ ...reported, host: 'far' }]);
      });
    });
  });

  test('queues count what waits, what a limit holds back among it, and jobs that fail', async () => {
    const { db } = s.service.ctx;
    const { appId } = await newApp(s);
    const queue = async (name: string) =>
      (await read()).queues.find((one: { name: string }) => one.name === name);
    const before = await queue('runs');
    for (const held of [false, true]) {
      const { thread } = await ok(s.call('POST', `${P}/apps/${appId}/threads`, {}));
      const { run } = await ok(
        s.call('POST', `${P}/apps/${appId}/threads/${thread.id}/messages`, { content: sh('true') }),
      );
      await db.updateTable('runs').set({ held }).where('id', '=', run.id).execute();
    }
    await sql`update runs set created_at = now() - interval '90 seconds' where project_id = ${appId}`.execute(
      db,
    );
    await sql`update jobs set failures = 1 where kind = 'run.work' and fair_key = ${appId}`.execute(db);
    const after = await queue('runs');
    expect(after).toMatchObject({
      waiting: before.waiting + 2,
      running: before.running,
      failing: before.failing + 2,
    });
    expect(after.oldestSeconds).toBeGreaterThanOrEqual(90);
    expect(await queue('initializations')).toMatchObject({ running: 0 });
    expect((await queue('repacks')).oldestSeconds).toBeNull();
  });

  test('deliveries of webhooks that are pending, and those that failed so far', async () => {
    const { db } = s.service.ctx;
    const queue = async () =>
      (await read()).queues.find((one: { name: string }) => one.name === 'deliveries');
    expect(await queue()).toEqual({
      name: 'deliveries',
      waiting: 0,
      running: 0,
      oldestSeconds: null,
      failing: 0,
    });
    await sql`insert into webhook_subscriptions (org_id, id, url, types, disabled_reason, secret_sealed, after_sequence, created_by)
      select id, 'wh_paused', 'https://hook.test/', '{}', 'user', '', 0, 'usr_x' from organizations limit 1`.execute(
      db,
    );
    await sql`insert into webhook_deliveries (org_id, id, subscription_id, event_id, event_type, event, attempt_count, next_attempt_at, created_at)
      select org_id, 'whd_' || n, id, 'evt_' || n, 'run.failed', '{}', n, now(), now() - n * interval '90 seconds' from webhook_subscriptions, generate_series(0, 1) n`.execute(
      db,
    );
    const after = await queue();
    expect(after).toMatchObject({ waiting: 2, running: 0, failing: 1 });
    expect(after.oldestSeconds).toBeGreaterThanOrEqual(90);
  });

  test('the configuration as it was set, and no secret', async () => {
    const { config } = await read();
    const shown = new Map(
      config.map((one: { name: string; value: string; isDefault: boolean }) => [one.name, one]),
    );
    expect([...shown.keys()]).toEqual(Object.keys(SETTINGS));
    expect(shown.get('HEADRACE_IDLE_TIMEOUT_MINUTES')).toMatchObject({ value: '11', isDefault: false });
    expect(shown.get('HEADRACE_RATE_WINDOW_SECONDS')).toMatchObject({ value: null, isDefault: true });
    expect(shown.get('HEADRACE_SECRET_KEY')).toMatchObject({ value: '***', isDefault: false });
    const { text } = await s.call('GET', '/api/system', undefined, { cookie });
    for (const secret of [SECRET, s.key, 'correct horse']) expect(text).not.toContain(secret);
  });
});

describe('a part that is not ok says why', () => {
  test('sandbox: none where no worker lives, degraded where one of two makes none', async () => {
    const { db } = s.service.ctx;
    const [elsewhere] = await db
      .deleteFrom('processes')
      .where('id', '=', 'wrk_elsewhere')
      .returningAll()
      .execute();
    try {
      expect(await partOf('sandbox')).toMatchObject({
        status: 'down',
        message: expect.stringMatching(/no worker/i),
      });
      expect(await partOf('gateway')).toMatchObject({ status: 'down' });
      await withWorker(
        { host: 'broken', seconds: 1, runner: { ...REPORT, ok: false, warnings: ['install bubblewrap'] } },
        async () => {
          expect(await partOf('sandbox')).toMatchObject({
            status: 'down',
            message: 'No sandbox can be made: install bubblewrap.',
          });
          expect(await partOf('gateway')).toMatchObject({ status: 'ok' });
          await withWorker({ host: 'sound', seconds: 1, runner: REPORT }, async () =>
            expect(await partOf('sandbox')).toMatchObject({
              status: 'degraded',
              message: 'No sandbox can be made on broken.',
            }),
          );
        },
      );
    } finally {
      if (elsewhere)
        await sql`insert into processes (id, host, roles, last_seen_at, sandbox_seen_at) values ('wrk_elsewhere', 'elsewhere', '{worker}', 'infinity', 'infinity')`.execute(
          db,
        );
    }
  });

  test('storage that cannot be written', async () => {
    const { store } = s.service.ctx;
    const { probe } = store;
    store.probe = () => Promise.reject(new Error('full'));
    try {
      expect(await partOf('storage')).toMatchObject({
        status: 'down',
        message: expect.stringMatching(/cannot be written/),
      });
    } finally {
      store.probe = probe;
    }
  });
});
