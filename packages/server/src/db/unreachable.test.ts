import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { createTestDatabase } from './database.fixture.ts';
import { migrate } from './migrate.ts';

const refusal = (connectionString: string) =>
  migrate({ connectionString }).then(
    () => 'none',
    (error: Error) => error.message,
  );

test('a database that cannot be reached is named by its variable and its address, never by its password', async () => {
  const closed = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => {
    closed.once('listening', resolve);
  });
  const { port } = closed.address() as AddressInfo;
  await new Promise((resolve) => {
    closed.close(resolve);
  });
  for (const host of ['127.0.0.1', 'localhost']) {
    const message = await refusal(`postgres://kim:hidden@${host}:${port}/shop`);
    expect(message).toMatch(/^DATABASE_URL: the database "shop" at /);
    expect(message).toContain(`${host}:${port}`);
    expect(message).toContain('ECONNREFUSED');
    expect(message).not.toMatch(/hidden|kim/);
  }
});

test('so is one that is not there', async () => {
  const database = await createTestDatabase();
  try {
    const { host, port, user } = database.connection;
    const query = new URLSearchParams({ host, port: String(port), user });
    expect(await refusal(`postgresql:///none_such?${query.toString()}`)).toMatch(
      /^DATABASE_URL: the database "none_such" cannot be used: .*does not exist/,
    );
  } finally {
    await database.drop();
  }
});
