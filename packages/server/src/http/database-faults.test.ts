import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';

let s: TestServer;
beforeEach(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
  await sql`
    create function no_room() returns trigger language plpgsql as $$
    begin
      raise exception 'could not extend file: No space left on device' using errcode = '53100';
    end $$`.execute(s.service.ctx.db);
});
afterEach(async () => {
  await s?.close();
});

/** What PostgreSQL says of a table that it cannot extend. */
async function whileFull<T>(table: string, work: () => Promise<T>): Promise<T> {
  const { db } = s.service.ctx;
  await sql`create trigger full_disk before insert or update on ${sql.table(table)} execute function no_room()`.execute(
    db,
  );
  try {
    return await work();
  } finally {
    await sql`drop trigger full_disk on ${sql.table(table)}`.execute(db);
  }
}

test("a full disk under the database is 503 and the operator's, whatever cannot be stored", async () => {
  const idem = randomUUID();
  const create = () => s.call('POST', '/api/projects', { name: 'n' }, { idem });
  for (const table of ['projects', 'rate_windows']) {
    const answer = await whileFull(table, async () => {
      // A caller whose window this process does not know yet.
      if (table === 'rate_windows') return s.call('GET', '/api/projects', undefined, { key: null });
      return create();
    });
    expect([table, answer.status, answer.body.error.code, answer.headers.get('retry-after')]).toEqual([
      table,
      503,
      'unavailable',
      '60',
    ]);
    expect(answer.body.error.message).toMatch(/disk is full/);
  }
  await expect.poll(async () => (await create()).status, { timeout: 3_000, interval: 50 }).toBe(201);
});
