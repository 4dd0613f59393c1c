/**
 * Two APIs and two workers on one PostgreSQL, each a separate process: what one writes the other's
 * streams show, and whatever a killed one held goes on elsewhere.
 *
 *   held by one:  the publisher and, with it, the retention job (a session lock: the server frees it when the holder's connection ends)
 *   by the eldest worker: the rounds of worker.ts (receipts, workspaces, builds, applies, previews): they
 *   read state, nobody holds them
 *   a worker's own jobs: it counts as dead after two silent seconds, so they come back a little later than
 *   that, not within two
 */
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  addressOf,
  endLeftovers,
  endOf,
  endProcess,
  OWNER,
  spawnService,
} from '../../../checks/harness/service.ts';
import { makeServiceKey } from './accounts/index.ts';
import { openPool } from './db/database.ts';
import { createTestDatabase } from './db/database.fixture.ts';
import type { TestDatabase } from './db/database.fixture.ts';
import { PUBLISHER_LOCK } from './db/advisory-locks.ts';
import { auditLog } from './events/audit.fixture.ts';
import { readFrames, until } from './events/events.fixture.ts';
import type { Reader } from './events/events.fixture.ts';
import { newId } from './ids.ts';

const P = '/api/platform/v1';
/**
 * The silence after which a worker is dead, its successor's heartbeat, and the time that this takes on a
 * busy machine. A worker that has just started judges nobody for five seconds.
 */
const DEAD_WORKER_MS = 8_000;
const FAILOVER_MS = 2_000;

interface Process {
  role: 'api' | 'worker';
  child: ChildProcess;
  /** Of an API. */
  base: string;
}

const key = makeServiceKey();
let database: TestDatabase;
let sql: Pool;
let dataDir: string;
let processes: Process[] = [];

async function start(role: Process['role']): Promise<Process> {
  const { host, port, user, database: name } = database.connection;
  const child = spawnService({
    dataDir,
    key,
    env: {
      DATABASE_URL: `postgresql:///${name}?${new URLSearchParams({ host, port: String(port), user }).toString()}`,
      HEADRACE_ROLES: role,
      HEADRACE_SECRET_KEY: 'test secret of at least 32 characters',
      HEADRACE_LOG_LEVEL: 'fatal',
    },
  });
  const known = role === 'worker' ? await workers() : [];
  let base = '';
  if (role === 'api') base = await addressOf(child);
  else {
    child.stdout!.resume();
    child.stderr!.resume();
    await until(async () => (await workers()).some((id) => !known.includes(id)), 30_000);
  }
  const process = { role, child, base };
  processes.push(process);
  return process;
}
const workers = async () =>
  (await sql.query<{ id: string }>('select id from workers')).rows.map((row) => row.id);

beforeAll(async () => {
  database = await createTestDatabase();
  sql = openPool({ ...database.connection, max: 8 });
  dataDir = await mkdtemp(join(tmpdir(), 'headrace-test-'));
  await Promise.all([start('api'), start('api'), start('worker'), start('worker')]);
}, 60_000);
afterAll(async () => {
  await Promise.all(processes.map(({ child }) => endProcess(child)));
  await sql?.end();
  try {
    await auditLog(database.connection);
  } finally {
    await endLeftovers(dataDir);
    await database.drop();
    await rm(dataDir, { recursive: true, force: true });
  }
}, 60_000);

const apis = () => processes.filter(({ role }) => role === 'api');

async function call(
  at: Process,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = { 'x-api-key': key },
) {
  const response = await fetch(at.base + path, {
    method,
    headers: {
      ...headers,
      ...(method === 'GET' ? {} : { 'idempotency-key': randomUUID() }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  expect(response.status, text).toBeLessThan(300);
  return { body: JSON.parse(text), headers: response.headers };
}

async function stream(at: Process, path: string, headers: Record<string, string> = {}): Promise<Reader> {
  const request = get(at.base + path, { agent: false, headers: { 'x-api-key': key, ...headers } });
  const response = await new Promise<IncomingMessage>((resolve, reject) =>
    request.on('response', resolve).on('error', reject),
  );
  const reader = readFrames(response, () => request.destroy());
  await until(() => reader.frames.length > 0);
  return reader;
}
const namesOn = (reader: Reader) =>
  reader.frames
    .filter((frame) => frame.event === 'platform.app.updated')
    .map((frame) => frame.data.data.externalId as string);

/** Without what was published while the streams were opened: one of them may have been too late for it. */
const sinceFirstMark = ({ frames }: Reader) =>
  frames
    .slice(frames.findIndex((frame) => frame.event === 'platform.app.updated'))
    .filter((frame) => frame.event !== 'heartbeat');

async function newApp(at: Process): Promise<string> {
  return (await call(at, 'POST', `${P}/apps`, { name: 'App' })).body.app.id;
}
/** An event that a reader can distinguish from others. */
const mark = (at: Process, appId: string, name: string) =>
  call(at, 'PATCH', `${P}/apps/${appId}`, { externalId: name });

/** The process that holds the publisher's lock. */
async function publisher(): Promise<Process> {
  const pid = await until(async () => {
    const { rows } = await sql.query<{ name: string }>(
      `
      select a.application_name as name from pg_locks l join pg_stat_activity a on a.pid = l.pid
      where l.locktype = 'advisory' and l.granted and l.objid = $1 and l.database = (select oid from pg_database where datname = current_database())`,
      [PUBLISHER_LOCK],
    );
    return rows[0]?.name.split(' ')[1];
  });
  return processes.find(({ child }) => child.pid === Number(pid))!;
}

/** Another one of its role is there, or is started. */
async function withSpare(victim: Process): Promise<Process> {
  if (processes.filter(({ role }) => role === victim.role).length === 1) await start(victim.role);
  return victim;
}

/** Ends it as a crash would; resolves with the moment. */
async function kill(victim: Process): Promise<number> {
  processes = processes.filter((one) => one !== victim);
  const at = performance.now();
  victim.child.kill('SIGKILL');
  await endOf(victim.child);
  return at;
}

describe('two APIs', () => {
  test('a stream on one shows what is written through the other, both ways, in one order', async () => {
    const [a, b] = apis() as [Process, Process];
    const appId = await newApp(a);
    const feed = `${P}/apps/${appId}/events/stream`;
    const [onA, onB] = await Promise.all([stream(a, feed), stream(b, feed)]);
    for (let i = 0; i < 10; i++) await mark(i % 2 ? a : b, appId, `mark ${i}`);
    await until(() => namesOn(onA).length === 10 && namesOn(onB).length === 10);
    expect(namesOn(onA)).toEqual(Array.from({ length: 10 }, (_, i) => `mark ${i}`));
    expect(sinceFirstMark(onB)).toEqual(sinceFirstMark(onA));
    onA.close();
    onB.close();
  });

  test('a key that is revoked through one ends its streams on the other within a second, and answers 401 there', async () => {
    const [a, b] = apis() as [Process, Process];
    const { headers } = await call(b, 'POST', '/api/auth/sign-in/email', OWNER, { origin: b.base });
    const owner = { cookie: headers.get('set-cookie')!.split(';')[0]!, origin: b.base };
    const made = (
      await call(
        b,
        'POST',
        '/api/service-accounts',
        { name: 'reader', permissions: { thread: ['read'] } },
        owner,
      )
    ).body;
    const reader = await stream(a, `${P}/events/stream`, { 'x-api-key': made.key });
    await call(
      b,
      'DELETE',
      `/api/service-accounts/${made.account.id}/credentials/${made.credential.id}`,
      undefined,
      owner,
    );
    const revokedAt = performance.now();
    await until(() => reader.isOver);
    expect(performance.now() - revokedAt).toBeLessThan(1_000);
    expect((await fetch(`${a.base}${P}/events`, { headers: { 'x-api-key': made.key } })).status).toBe(401);
  });
});

describe('kill -9 of the process that publishes', () => {
  test.each([1, 2])(
    'events flow again within two seconds, and days past the retention are dropped (%i)',
    async (round) => {
      const victim = await withSpare(await publisher());
      const survivor = apis().find((api) => api !== victim)!;
      const appId = await newApp(survivor);
      const feed = `${P}/apps/${appId}/events/stream`;
      const [reader, cutOff] = await Promise.all([
        stream(survivor, feed),
        victim.role === 'api' ? stream(victim, feed) : null,
      ]);
      await mark(survivor, appId, `before ${round}`);
      await until(() => namesOn(reader).length === 1 && (!cutOff || namesOn(cutOff).length === 1));
      const day = ['20200101', '20200102', '20200103'][round]!;
      await sql.query(
        `create table events_${day} partition of events for values from ('${day}') to ('${Number(day) + 1}')`,
      );
      const killedAt = await kill(victim);
      await mark(survivor, appId, `after ${round}`);
      await until(() => namesOn(reader).length === 2);
      expect(performance.now() - killedAt).toBeLessThan(FAILOVER_MS);
      await until(
        async () =>
          (await sql.query('select 1 from pg_class where relname = $1', [`events_${day}`])).rowCount === 0,
      );
      expect(performance.now() - killedAt).toBeLessThan(FAILOVER_MS);
      // Who was cut off goes on at any other API, from its last frame.
      if (cutOff) {
        const resumed = await stream(survivor, feed, {
          'last-event-id': cutOff.frames.findLast((frame) => frame.id)!.id!,
        });
        await until(() => namesOn(resumed).length === 1);
        expect([...namesOn(cutOff), ...namesOn(resumed)]).toEqual([`before ${round}`, `after ${round}`]);
        resumed.close();
      }
      reader.close();
    },
  );
});

describe('kill -9 of a worker', () => {
  test('what nobody looks after any more is found by the other one within two seconds; its jobs, when it counts as dead', async () => {
    const victim = await withSpare(processes.find(({ role }) => role === 'worker')!);
    const [api] = apis() as [Process];
    const appId = await newApp(api);
    const { source } = (
      await call(api, 'POST', `${P}/apps/${appId}/sources`, { files: [{ path: 'a.txt', content: 'a' }] })
    ).body;
    await call(api, 'POST', `${P}/apps/${appId}/source-head/initialize`, { sourceId: source.id });
    const threadOf = async () =>
      (await call(api, 'POST', `${P}/apps/${appId}/threads`, {})).body.thread.id as string;
    const [idle, ...threads] = await Promise.all([threadOf(), threadOf(), threadOf(), threadOf()]);
    await until(
      async () =>
        (
          await sql.query("select 1 from threads where workspace_status = 'ready' and project_id = $1", [
            appId,
          ])
        ).rowCount === 4,
      20_000,
    );

    const before = await workers();
    const lockOf = (id: string) =>
      sql.query(
        'select 1 from pg_locks l join workers w on (l.classid::bigint << 32 | l.objid::bigint) = w.lock_key where w.id = $1 and l.database = (select oid from pg_database where datname = current_database())',
        [id],
      );
    const killedAt = await kill(victim);
    const dead = await until(async () => {
      for (const id of before) if ((await lockOf(id)).rowCount === 0) return id;
      return undefined;
    });
    const {
      rows: [project],
    } = await sql.query<{ org_id: string }>('select org_id from projects where id = $1', [appId]);
    const orgId = project!.org_id;
    const [build, preview, apply, operation] = [newId('bld'), newId('prv'), newId('apl'), newId('op')];
    const [builds, previews, applies] = threads;
    await sql.query(
      "insert into builds (org_id, id, project_id, thread_id, source_id, command, output_directory, timeout_seconds, status, created_by) values ($1, $2, $3, $4, $5, 'true', '.', 10, 'queued', 'sa')",
      [orgId, build, appId, builds, source.id],
    );
    await sql.query(
      "insert into previews (org_id, id, project_id, thread_id, status, token, command, port, created_by) values ($1, $2, $3, $4, 'starting', 'token', 'true', 3000, 'sa')",
      [orgId, preview, appId, previews],
    );
    await sql.query(
      "insert into applies (org_id, id, project_id, thread_id, sequence, conflict_resolution, draft_source_id, status, created_by) values ($1, $2, $3, $4, 1, 'manual', $5, 'queued', 'sa')",
      [orgId, apply, appId, applies, source.id],
    );
    await sql.query(
      "insert into operations (org_id, id, actor_id, idempotency_key, fingerprint, method, path, permissions, published, status, lease_until) values ($1, $2, 'sa', 'lost', '', 'POST', '/', '{}', false, 'pending', now() - interval '1 minute')",
      [orgId, operation],
    );
    await sql.query('update threads set idle_expires_at = now() where id = $1', [idle]);
    await sql.query(
      "insert into jobs (kind, payload, status, attempt, worker_id, claimed_at) values ('apply.merge', $1, 'active', 1, $2, now())",
      [{ projectId: newId('prj') }, dead],
    );

    /** How long after the kill it was seen to be in hand: done, or a job's again. */
    const within = async (limit: number, query: string, id: string) => {
      await until(async () => (await sql.query(query, [id])).rowCount! > 0);
      return [id, performance.now() - killedAt < limit];
    };
    const open = (table: string, status: string, job: string) =>
      `select 1 from ${table} where id = $1 and (status <> '${status}' or exists (select 1 from jobs where key = '${job}:' || $1))`;
    expect(
      await Promise.all([
        within(FAILOVER_MS, open('builds', 'queued', 'build'), build),
        within(FAILOVER_MS, open('previews', 'starting', 'preview'), preview),
        within(
          FAILOVER_MS,
          "select 1 from applies a where id = $1 and (status <> 'queued' or exists (select 1 from jobs where key = 'apply:' || a.project_id))",
          apply,
        ),
        within(FAILOVER_MS, "select 1 from operations where id = $1 and status <> 'pending'", operation),
        within(
          FAILOVER_MS,
          "select 1 from threads where id = $1 and (workspace_status <> 'ready' or exists (select 1 from jobs where key = 'thread:' || $1))",
          idle,
        ),
        within(DEAD_WORKER_MS, 'select 1 where not exists (select 1 from jobs where worker_id = $1)', dead),
      ]),
    ).toEqual([build, preview, apply, operation, idle, dead].map((id) => [id, true]));
  });
});
