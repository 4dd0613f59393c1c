import { Client } from 'pg';
import { expect, test } from 'vitest';
import { createTestDatabase } from './database.fixture.ts';

test('a test database has the schema, no rows of others, and is gone after drop', async () => {
  const [a, b] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  const client = new Client(a.connection);
  await client.connect();
  client.on('error', () => {}); // drop ends it
  await client.query('create table only_here ()');
  expect((await client.query("select to_regclass('schema_migrations') is not null as has")).rows).toEqual([
    { has: true },
  ]);
  await a.drop();

  const other = new Client(b.connection);
  await other.connect();
  expect((await other.query("select to_regclass('only_here') as it")).rows).toEqual([{ it: null }]);
  await other.end();
  await b.drop();
  await expect(new Client(a.connection).connect()).rejects.toMatchObject({ code: '3D000' });
});
