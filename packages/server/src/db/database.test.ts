import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase } from './database.ts';
import type { DatabaseHandle } from './database.ts';
import { isDatabaseAway } from './faults.ts';
import { createTestDatabase } from './database.fixture.ts';
import type { TestDatabase } from './database.fixture.ts';

let database: TestDatabase;
let handle: DatabaseHandle;
beforeAll(async () => {
  database = await createTestDatabase();
  handle = openDatabase(database.connection);
});
afterAll(async () => {
  await handle?.close();
  await database?.drop();
});

test('a connection that the server ends between two statements of a transaction fails the transaction, and not the process', async () => {
  const failed = handle.db
    .transaction()
    .execute(async (tx) => {
      const {
        rows: [own],
      } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx);
      await sql`select pg_terminate_backend(${own!.pid})`.execute(handle.db);
      // The server's farewell comes while no statement of this connection is under way.
      await gone(own!.pid);
      await sql`select 1`.execute(tx);
    })
    .then(
      () => null,
      (error: unknown) => error,
    );
  expect(isDatabaseAway(await failed)).toBe(true);
  expect((await sql<{ one: number }>`select 1 as one`.execute(handle.db)).rows).toEqual([{ one: 1 }]);
});

test('no statement is compiled: where a scan is forced, a server with JIT would do so each time', async () => {
  const {
    rows: [is],
  } = await sql`select current_setting('jit') as jit, current_setting('enable_seqscan') as seqscan`.execute(
    handle.db,
  );
  expect(is).toEqual({ jit: 'off', seqscan: 'off' });
});

async function gone(pid: number): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    const { rows } = await sql`select 1 from pg_stat_activity where pid = ${pid}`.execute(handle.db);
    if (rows.length === 0) return;
  }
  throw new Error('the connection did not end');
}
