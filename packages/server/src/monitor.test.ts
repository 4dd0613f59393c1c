/** What Prometheus reads of a service: over HTTP, from a port of its own. */
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lastBackupFile } from './data-folder.ts';
import { json } from './db/schema.ts';
import { readDatabaseGauges } from './metrics/database-gauges.ts';
import { SERVER_METRICS } from './metrics/table.ts';
import { openMetrics } from '@headrace/runner/metrics';
import { startTestServer } from './service.fixture.ts';
import type { TestServer } from './service.fixture.ts';
import { newBench, sh, until } from './threads/threads.fixture.ts';

const ON = { HEADRACE_METRICS_LISTEN: '127.0.0.1:0' };
let s: TestServer;
beforeAll(async () => {
  s = await startTestServer(ON);
});
afterAll(async () => {
  await s?.close();
});

const scrape = async ({ service }: TestServer = s): Promise<string> => {
  const response = await fetch(`http://127.0.0.1:${service.metricsPort}/metrics`);
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    'text/plain; version=0.0.4; charset=utf-8',
  ]);
  return response.text();
};
/** The value of one series; null where there is none. */
const valueOf = (text: string, name: string): number | null => {
  const line = text.split('\n').find((one) => one.startsWith(`${name} `));
  return line === undefined ? null : Number(line.slice(name.length + 1));
};
const read = async (name: string, server?: TestServer) => valueOf(await scrape(server), name);

describe('metrics', () => {
  test('are not measured, and no port is open, unless HEADRACE_METRICS_LISTEN is set', async () => {
    const other = await startTestServer({ HEADRACE_ROLES: 'api' }, s);
    try {
      expect(other.service.metricsPort).toBeNull();
      expect(other.service.ctx.metrics.isOn).toBe(false);
      expect((await other.call('GET', '/metrics')).status).toBe(404);
    } finally {
      await other.close();
    }
  });

  test('name everything of the table, of the process and of its runner', async () => {
    const text = await scrape();
    for (const name of Object.keys(SERVER_METRICS)) expect(text).toContain(`# TYPE ${name} `);
    expect(text).toContain('# TYPE process_resident_memory_bytes gauge');
    if (s.service.ctx.runnerStatus()?.ok) expect(text).toContain('headrace_runner_sandboxes 0');
    const types = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
    expect(new Set(types).size).toBe(types.length);
  });

  test('count requests by operation and class, and not the time of those that wait', async () => {
    const b = await newBench(s);
    await s.call('GET', b.at);
    expect((await s.call('GET', `${b.app}/threads/thr_00000000000000000000000000`)).status).toBe(404);
    expect((await s.call('GET', b.at, undefined, { key: null })).status).toBe(401);
    const of = (operation: string, outcome: string) =>
      `headrace_http_request_duration_seconds_count{operation="${operation}",class="${outcome}"}`;
    await until('both refusals count', async () => (await read(of('threads.getThread', '4xx'))) === 2);
    expect(await read(of('threads.getThread', 'ok'))).toBeGreaterThan(0);
    const before = await read(of('events.streamAppEvents', 'ok'));
    const gone = new AbortController();
    const stream = await fetch(`${s.base}${b.app}/events/stream`, {
      headers: { 'x-api-key': s.key },
      signal: gone.signal,
    });
    expect(stream.status).toBe(200);
    expect(await read('headrace_streams_open')).toBe(1);
    gone.abort();
    await until('the stream has gone', async () => (await read('headrace_streams_open')) === 0);
    expect(await read(of('events.streamAppEvents', 'ok'))).toBe(before);
  });

  test('follow a run from its acceptance to its end, and an apply', async (context) => {
    if (!s.service.ctx.runnerStatus()?.ok) context.skip('no sandbox can be made here');
    const b = await newBench(s);
    await b.work(sh('echo b > b.txt'));
    const [run] = await b.list('runs');
    const applied = await s.call(
      'POST',
      `${b.at}/apply`,
      { expectedSourceId: run.resultSourceId, clientOperationId: 'apply-1' },
      { idem: 'apply-1' },
    );
    expect(applied.status).toBeLessThan(300);
    await until(
      'the apply counts',
      async () => (await read('headrace_apply_duration_seconds_count{outcome="applied"}')) === 1,
    );
    const text = await scrape();
    const value = (name: string) => valueOf(text, `headrace_${name}`);
    expect(value('runs_total{outcome="completed"}')).toBe(1);
    expect(value('runs_total{outcome="worker_lost"}')).toBe(0);
    for (const phase of ['start', 'prepare', 'turn', 'settle'])
      expect(value(`run_phase_seconds_count{phase="${phase}"}`)).toBe(1);
    expect(value('workspace_restore_seconds_count{way="full"}')).toBeGreaterThan(0);
    expect(value('capture_seconds_count')).toBeGreaterThan(0);
    expect(value('sandbox_start_seconds_count')).toBeGreaterThan(0);
    expect(value('store_seconds_count{op="put",outcome="ok"}')).toBeGreaterThan(0);
    expect(value('job_claim_seconds_count')).toBeGreaterThan(0);
    expect(value('event_lag_seconds_count')).toBeGreaterThan(5);
    expect(value('db_pool{state="idle"}')).toBeGreaterThan(0);
    // No label has an id or a name of anybody.
    expect(text).not.toMatch(/\{[^}]*"[a-z]+_[0-9a-z]{20,}/);
    expect(text).not.toContain(s.key);
  });

  test('know the age of the last backup where one was made', async () => {
    expect(await read('headrace_backup_age_seconds')).toBeNull();
    await writeFile(lastBackupFile(s.service.ctx.config.dataDir), 'now');
    const age = await read('headrace_backup_age_seconds');
    expect(age).toBeGreaterThan(-1);
    expect(age).toBeLessThan(60);
  });
});

describe('the state of the database', () => {
  test('is read by one process, and by another when that one is gone', async () => {
    const first = await startTestServer(ON);
    const second = await startTestServer({ ...ON, HEADRACE_ROLES: 'api' }, first);
    const outbox = async (server: TestServer) => read('headrace_outbox_oldest_seconds', server);
    try {
      await until('the first one reads', async () => (await outbox(first)) !== null, 30_000);
      expect(await outbox(second)).toBeNull();
      await first.service.stop();
      await until('the second one reads', async () => (await outbox(second)) !== null, 30_000);
    } finally {
      await second.close();
      await first.close();
    }
  });

  const gauges = async () => {
    const metrics = openMetrics(SERVER_METRICS);
    await readDatabaseGauges(s.service.ctx.db, metrics);
    return metrics.text();
  };
  const oldest = (text: string, kind: string) => valueOf(text, `headrace_job_oldest_seconds{kind="${kind}"}`);

  test('names how long a due job waits: not one that is due later, or whose key another has', async () => {
    const { db } = s.service.ctx;
    const job = (kind: string, age: number, more: object = {}) => ({
      kind,
      payload: json({}),
      run_at: sql<Date>`now() - ${age} * interval '1 second'`,
      ...more,
    });
    // Of kinds that no worker takes.
    await db
      .insertInto('jobs')
      .values([
        job('test.free', 40, { fair_org: 'org_a' }),
        job('test.free', 90, { fair_org: 'org_b' }),
        job('test.free', -60),
        job('test.later', -60),
        job('test.keyed', 500, { key: 'thread:x', status: 'active' }),
        job('test.keyed', 400, { key: 'thread:x' }),
        job('test.keyed', 20, { key: 'thread:y' }),
      ])
      .execute();
    try {
      const text = await gauges();
      expect(Math.round(oldest(text, 'test.free')! / 10)).toBe(9);
      expect(oldest(text, 'test.later')).toBeNull();
      expect(Math.round(oldest(text, 'test.keyed')! / 10)).toBe(2);
    } finally {
      await db.deleteFrom('jobs').where('kind', 'like', 'test.%').execute();
    }
  });

  test('names runners by their state, and their slots', async () => {
    const { db } = s.service.ctx;
    const process = (host: string, silent: number, report: object | null) => ({
      id: `wrk_${host}`,
      host,
      roles: ['worker', 'runner'],
      last_seen_at: sql<Date>`now() - ${silent} * interval '1 second'`,
      runner: report && json({ ok: true, sandboxes: 3, memoryBytes: 16 * 2 ** 30, ...report }),
    });
    const counts = async () => {
      const text = await gauges();
      return Object.fromEntries(
        [...text.matchAll(/^headrace_runner(?:s|_slots)\{pool="default",state="(\w+)"\} (\d+)/gm)].map(
          ([, state, value]) => [state, Number(value)],
        ),
      );
    };
    const before = await counts();
    await db
      .insertInto('processes')
      .values([
        process('well', 0, {}),
        process('broken', 0, { ok: false }),
        process('silent', 15, {}),
        process('lost', 60, {}),
        process('none', 0, null),
      ] as never)
      .execute();
    try {
      const now = await counts();
      const more = (state: string) => now[state]! - (before[state] ?? 0);
      expect([more('ready'), more('suspect'), more('lost')]).toEqual([1, 3, 1]);
      expect([more('used'), more('free')]).toEqual([3, 61]);
    } finally {
      await db
        .deleteFrom('processes')
        .where('host', 'in', ['well', 'broken', 'silent', 'lost', 'none'])
        .execute();
    }
  });

  test('names the runners that register by pool: those that drain or cannot work, too, but not those that are gone', async () => {
    const { db } = s.service.ctx;
    const runner = (pool: string, more: object) => ({
      boot_id: `rnr_${randomUUID()}`,
      name: 'node',
      address: 'node:4403',
      pool,
      protocol: [1, 1],
      capacity: 10,
      reserved: 4,
      is_ok: true,
      is_draining: false,
      status: json({}),
      ...more,
    });
    await db
      .insertInto('runners')
      .values([
        runner('test-a', {}),
        runner('test-a', { reserved: 12 }),
        runner('test-a', { is_draining: true }),
        runner('test-b', { is_ok: false }),
        runner('test-b', { state: 'lost' }),
        runner('test-b', { state: 'gone' }),
        ...Array.from({ length: 25 }, (_, i) => runner(`test-c${i}`, {})),
      ] as never)
      .execute();
    try {
      const text = await gauges();
      const value = (pool: string, state: string, what = 'runners') =>
        valueOf(text, `headrace_${what}{pool="${pool}",state="${state}"}`);
      expect([value('test-a', 'ready'), value('test-a', 'draining')]).toEqual([2, 1]);
      expect([value('test-a', 'used', 'runner_slots'), value('test-a', 'free', 'runner_slots')]).toEqual([
        16, 6,
      ]);
      expect([value('test-b', 'suspect'), value('test-b', 'lost'), value('test-b', 'ready')]).toEqual([
        1,
        1,
        null,
      ]);
      expect(value('other', 'ready')).toBe(7);
      expect(text).not.toMatch(/state="gone"/);
    } finally {
      await db.deleteFrom('runners').where('pool', 'like', 'test-%').execute();
    }
  });

  test('names nothing where it cannot be read', async () => {
    const metrics = openMetrics(SERVER_METRICS);
    const { db } = s.service.ctx;
    await readDatabaseGauges(db, metrics);
    expect(valueOf(await metrics.text(), 'headrace_outbox_oldest_seconds')).not.toBeNull();
    const away = { transaction: () => ({ execute: () => Promise.reject(new Error('away')) }) } as never;
    await expect(readDatabaseGauges(away, metrics)).rejects.toThrow('away');
    expect(valueOf(await metrics.text(), 'headrace_outbox_oldest_seconds')).toBeNull();
  });

  test('is cheap with 20,000 queued jobs of 1,000 organizations', async () => {
    const { db } = s.service.ctx;
    await sql`insert into jobs (kind, payload, fair_org, fair_key, key, run_at) select 'test.many', '{}', 'org_' || i % 1000, 'prj_' || i % 5000, 'many:' || i, now() - interval '1 minute' from generate_series(1, 20000) i`.execute(
      db,
    );
    try {
      const began = performance.now();
      const text = await gauges();
      const took = performance.now() - began;
      expect(oldest(text, 'test.many')).toBeGreaterThan(59);
      process.stderr.write(`read 20,000 jobs of 1,000 organizations in ${took.toFixed(0)} ms\n`);
      expect(took).toBeLessThan(1_500);
    } finally {
      await db.deleteFrom('jobs').where('kind', '=', 'test.many').execute();
    }
  });
});
