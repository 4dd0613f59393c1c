import { Client } from 'pg';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { newId } from '../ids.ts';
import { APP, ORG, openTestLog, until } from './events.fixture.ts';
import type { TestLog } from './events.fixture.ts';
import { Floor } from './floor.ts';

let log: TestLog;
let publisher: Client;
let floor: Floor;
const opened: Client[] = [];
beforeAll(async () => {
  log = await openTestLog();
  publisher = await connect();
});
afterAll(async () => {
  await Promise.all(opened.map((client) => client.end()));
  await log.close();
});
beforeEach(() => {
  floor = new Floor(0);
});

async function connect(): Promise<Client> {
  const client = new Client(log.connection);
  await client.connect();
  opened.push(client);
  return client;
}
/** A row in the client's transaction; resolves with its id. */
const insert = async (client: Client): Promise<number> =>
  (
    await client.query<{ id: number }>(
      "insert into outbox (event_id, org_id, feed, type, project_id, data) values ($1, $2, 'platform', 'run.queued', $3, '{}') returning id",
      [newId('evt'), ORG, APP],
    )
  ).rows[0]!.id;
async function look(): Promise<number> {
  await floor.look(publisher);
  floor.rise();
  return floor.id;
}

test('an empty outbox that never gave an id: the first one is not passed', async () => {
  expect(await look()).toBe(0);
  const writer = await connect();
  expect(await insert(writer)).toBeGreaterThan(0);
});

test('it stays below the ids of a transaction that is open, however many are given behind them, and rises when it has ended', async () => {
  const before = await look();
  const [late, other] = [await connect(), await connect()];
  await late.query('begin');
  const id = await insert(late);
  for (let i = 0; i < 3; i++) {
    await insert(other);
    expect(await look()).toBeLessThan(id);
  }
  await late.query('commit');
  // The look that it was waiting for ends; the next one takes in what came meanwhile.
  await look();
  expect(await look()).toBe(id + 3);
  expect(before).toBeLessThan(id);
});

test('a transaction that has written nothing yet, or only reads the outbox, does not hold it down; one that was rolled back no longer does', async () => {
  const [idle, reader, gone, other] = [await connect(), await connect(), await connect(), await connect()];
  for (const client of [idle, reader, gone]) await client.query('begin isolation level repeatable read');
  await idle.query('select txid_current()');
  await reader.query('select count(*) from outbox');
  await insert(gone);
  await gone.query('rollback');
  const id = await insert(other);
  await look();
  expect(await look()).toBe(id);
  for (const client of [idle, reader]) await client.query('rollback');
});

test('the publisher reads from behind it and leaves nothing out, also of a transaction that was open all the while', async () => {
  await sql`delete from outbox`.execute(log.ctx.db);
  const snapshot = await connect();
  await snapshot.query('begin isolation level repeatable read');
  await snapshot.query('select count(*) from projects');
  log.publish();
  const from = (await sql<{ n: number }>`select last_sequence as n from log_state`.execute(log.ctx.db))
    .rows[0]!.n;
  const late = await connect();
  await late.query('begin');
  await insert(late);
  for (let i = 0; i < 20; i++) await log.write(Array.from({ length: 100 }, () => 'tool.updated'));
  const published = async () =>
    (await sql<{ n: number }>`select last_sequence as n from log_state`.execute(log.ctx.db)).rows[0]!.n -
    from;
  await until(async () => (await published()) === 2_000);
  await late.query('commit');
  await until(async () => (await published()) === 2_001);
  await snapshot.query('rollback');
});
