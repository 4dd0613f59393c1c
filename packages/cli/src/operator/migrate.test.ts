import { createTestDatabase } from '@headrace/server/db/database.fixture.ts';
import { newestMigration } from '@headrace/server/db/migrate.ts';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { testCli } from '../cli.fixture.ts';

/** An empty database, its address for the service, and what it answers. */
async function emptyDatabase() {
  const database = await createTestDatabase();
  const client = new Client(database.connection);
  await client.connect();
  onTestFinished(async () => {
    await client.end();
    await database.drop();
  });
  await client.query('drop schema public cascade');
  await client.query('create schema public');
  const { host, port, user, database: name } = database.connection;
  const url = `postgresql:///${name}?${new URLSearchParams({ host, port: String(port), user }).toString()}`;
  const applied = async () =>
    (await client.query<{ number: number }>('select number from schema_migrations order by 1')).rows.map(
      ({ number }) => number,
    );
  return { client, url, applied };
}

const migrateAt = (url: string | undefined, ...options: string[]) =>
  testCli().run(['migrate', ...options], {
    env: {
      ...(url !== undefined && { DATABASE_URL: url }),
      HEADRACE_SECRET_KEY: 'test secret of at least 32 characters',
    },
  });

test('an empty database gets the schema, and a second run changes nothing', async () => {
  const { url, applied } = await emptyDatabase();
  const schema = await newestMigration();
  for (let run = 0; run < 2; run++) {
    const ran = await migrateAt(url, '--json');
    expect([ran.exit, JSON.parse(ran.stdout)]).toEqual([0, { ok: true, schema }]);
    expect((await applied()).at(-1)).toBe(schema);
  }
});

test('a database of a newer version is refused, and stays as it is', async () => {
  const { client, url, applied } = await emptyDatabase();
  await migrateAt(url);
  await client.query("insert into schema_migrations (number, name) values (9999, 'later')");
  const before = await applied();
  const ran = await migrateAt(url);
  expect([ran.exit, ran.stderr]).toEqual([1, expect.stringContaining('newer version')]);
  expect(await applied()).toEqual(before);
});

test('without an external database it says who migrates the embedded one', async () => {
  const ran = await migrateAt(undefined);
  expect([ran.exit, ran.stderr]).toEqual([2, expect.stringContaining('DATABASE_URL')]);
});
