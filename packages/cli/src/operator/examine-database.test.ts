import { expect, test } from 'vitest';
import { createTestDatabase } from '@headrace/server/db/database.fixture.ts';
import { examineDatabase } from './examine-database.ts';

test('names what the database is, and one that cannot be reached by its variable', async () => {
  expect(await examineDatabase({ databaseUrl: null, databaseDirectUrl: null })).toMatchObject({ ok: true });
  const database = await createTestDatabase();
  try {
    const { host, port, user, database: name } = database.connection;
    const url = `postgresql:///${name}?${new URLSearchParams({ host, port: String(port), user }).toString()}`;
    expect(await examineDatabase({ databaseUrl: url, databaseDirectUrl: null })).toEqual({
      ok: true,
      detail: expect.stringMatching(
        /^PostgreSQL 18\..*, 0 standbys, 0 of them synchronous, at most \d+ connections$/,
      ) as string,
      warnings: [],
    });
    await expect(
      examineDatabase({ databaseUrl: url, databaseDirectUrl: 'postgresql://127.0.0.1:1/none' }),
    ).rejects.toThrow(/^DATABASE_DIRECT_URL: /);
  } finally {
    await database.drop();
  }
});
