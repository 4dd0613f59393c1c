import { Client } from 'pg';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../ids.ts';
import { APP, ORG, openTestLog, until } from './events.fixture.ts';
import type { TestLog } from './events.fixture.ts';

let log: TestLog;
beforeEach(async () => {
  log = await openTestLog();
});
afterEach(() => log.close());

const published = () => log.ctx.db.selectFrom('events').selectAll().orderBy('sequence').execute();
const count = async () =>
  (
    await log.ctx.db
      .selectFrom('events')
      .select(sql<number>`count(*)`.as('n'))
      .executeTakeFirstOrThrow()
  ).n;

/** An outbox row in a separate transaction, as a writer inserts it just before its commit. */
const insert = (client: Client, type: string) =>
  client.query(
    'insert into outbox (event_id, org_id, feed, type, project_id, data) values ($1, $2, $3, $4, $5, $6)',
    [newId('evt'), ORG, 'platform', type, APP, {}],
  );
async function connect(): Promise<Client> {
  const client = new Client(log.connection);
  client.on('error', () => {});
  await client.connect();
  return client;
}

describe('order', () => {
  test('a transaction that stays open across later commits loses nothing and moves nothing: it is published when it commits', async () => {
    log.publish();
    const late = await connect();
    await late.query('begin');
    await insert(late, 'run.queued');
    await log.write(['run.running']);
    await log.write(['run.waiting']);
    await until(async () => (await count()) === 2);
    await late.query('commit');
    await until(async () => (await count()) === 3);
    await late.end();
    const rows = await published();
    expect(rows.map((r) => [r.sequence, r.type])).toEqual([
      [1, 'run.running'],
      [2, 'run.waiting'],
      [3, 'run.queued'],
    ]);
    expect(await log.ctx.db.selectFrom('outbox').selectAll().execute()).toEqual([]);
  });

  test('the events of one transaction stay together, though another took ids between theirs', async () => {
    const [a, b] = [await connect(), await connect()];
    await a.query('begin');
    await b.query('begin');
    for (const [client, type] of [
      [a, 'run.queued'],
      [b, 'tool.updated'],
      [a, 'run.running'],
      [b, 'tool.updated'],
      [a, 'run.completed'],
    ] as const)
      await insert(client, type);
    await b.query('commit');
    await a.query('commit');
    await Promise.all([a.end(), b.end()]);
    log.publish();
    await until(async () => (await count()) === 5);
    expect((await published()).map((r) => r.type)).toEqual([
      'run.queued',
      'run.running',
      'run.completed',
      'tool.updated',
      'tool.updated',
    ]);
  });

  test('sequences have no gap and times never go back, over many batches and writers', async () => {
    log.publish();
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        for (let i = 0; i < 40; i++) await log.write(Array.from({ length: 5 }, () => 'tool.updated'));
      }),
    );
    await until(async () => (await count()) === 1600);
    const rows = await published();
    expect(rows.map((r) => r.sequence)).toEqual(Array.from({ length: 1600 }, (_, i) => i + 1));
    for (let i = 1; i < rows.length; i++)
      expect(
        rows[i]!.published_at >= rows[i - 1]!.published_at && rows[i]!.published_at >= rows[i]!.occurred_at,
      ).toBe(true);
  });

  test('what a reader sees first does not depend on the clock: a clock that went back gives no earlier time', async () => {
    await sql`update log_state set last_published_at = clock_timestamp() + interval '1 hour'`.execute(
      log.ctx.db,
    );
    const { last_published_at: before } = await log.ctx.db
      .selectFrom('log_state')
      .selectAll()
      .executeTakeFirstOrThrow();
    log.publish();
    await log.write(['run.queued']);
    await until(async () => (await count()) === 1);
    expect((await published())[0]!.published_at).toEqual(before);
  });

  test('nor does what a stream sees: a clock that is behind the last event of the log hides nothing', async () => {
    await sql`update log_state set last_published_at = clock_timestamp() + interval '3 days'`.execute(
      log.ctx.db,
    );
    log.publish();
    const reader = await log.read(log.filter());
    for (const type of ['run.queued', 'run.running']) await log.write([type]);
    await until(() => reader.frames.filter((frame) => frame.event !== 'heartbeat').length === 2);
    expect(reader.frames.slice(1).map((frame) => frame.event)).toEqual(['run.queued', 'run.running']);
    reader.close();
  });
});

describe('one publisher', () => {
  test('of two one publishes; when its connection is killed the other goes on within two seconds', async () => {
    const both = [log.publish(), log.publish()];
    const first = await until(() => both.find((p) => p.isPublishing()));
    await log.write(['run.queued']);
    await until(async () => (await count()) === 1);
    expect(both.filter((p) => p.isPublishing())).toEqual([first]);
    await sql`select pg_terminate_backend(l.pid) from pg_locks l where l.locktype = 'advisory' and l.granted and l.objid = 4400002 and l.database = (select oid from pg_database where datname = current_database())`.execute(
      log.ctx.db,
    );
    const killedAt = Date.now();
    await log.write(['run.running']);
    await until(async () => (await count()) === 2, 2_000);
    expect(Date.now() - killedAt).toBeLessThan(2_000);
    await until(() => both.filter((p) => p.isPublishing()).length === 1);
  });

  test('one that stops hands over', async () => {
    const first = log.publish();
    await until(() => first.isPublishing());
    const second = log.publish();
    await first.stop();
    await log.write(['run.queued']);
    await until(async () => (await count()) === 1, 2_000);
    expect(second.isPublishing()).toBe(true);
  });
});
