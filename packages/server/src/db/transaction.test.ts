import { Kysely, PostgresDialect, sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Bus } from '../bus.ts';
import { newId } from '../ids.ts';
import { openPool } from './database.ts';
import type { Db } from './database.ts';
import type { Database } from './schema.ts';
import { createTestDatabase } from './database.fixture.ts';
import type { TestDatabase } from './database.fixture.ts';
import { appendEvent, transaction } from './transaction.ts';
import type { EventScope } from './transaction.ts';

let database: TestDatabase;
let db: Db;
const queries: string[] = [];
const bus = { notify: vi.fn() } as unknown as Bus;
const SCOPE: EventScope = { orgId: 'org_1', projectId: 'prj_1', feed: 'direct' };

beforeAll(async () => {
  database = await createTestDatabase();
  db = new Kysely<Database>({
    dialect: new PostgresDialect({ pool: openPool(database.connection) }),
    log: (event) => {
      queries.push(event.query.sql);
    },
  });
});
afterAll(async () => {
  await db?.destroy();
  await database?.drop();
});
beforeEach(async () => {
  vi.mocked(bus.notify).mockClear();
  await db.deleteFrom('outbox').execute();
  queries.length = 0;
});

const outbox = () =>
  db
    .selectFrom('outbox')
    .select(['event_id', 'type', 'thread_id', 'run_id', 'project_id', 'feed', 'data'])
    .orderBy('id')
    .execute();
const failure = (code: string) => Object.assign(new Error(code), { code });
const organization = async () => {
  const id = newId('org');
  await db.insertInto('organizations').values({ id, name: 'n' }).execute();
  return id;
};

describe('events', () => {
  test('are written in their order, also where they are more than a statement takes', async () => {
    const ids = await transaction({ db, bus }, async (tx) =>
      Array.from({ length: 9_000 }, (_, n) => appendEvent(tx, SCOPE, 'thread.updated', { id: `thr_${n}` })),
    );
    expect((await outbox()).map((row) => row.event_id)).toEqual(ids);
  });

  test('are written in their order, in one statement, as the last before the commit', async () => {
    const ids = await transaction({ db, bus }, async (tx) => {
      const first = appendEvent(tx, { ...SCOPE, threadId: 'thr_1' }, 'thread.updated', {
        id: 'thr_1',
        status: 'ready',
      });
      await sql`select 'state'`.execute(tx.db);
      const second = appendEvent(tx, { ...SCOPE, projectId: null }, 'operation.updated', {
        id: 'op_1',
        status: 'succeeded',
      });
      expect(await outbox()).toEqual([]);
      await sql`select 'more state'`.execute(tx.db);
      return [first, second];
    });
    expect(queries.filter((q) => q.includes('insert into outbox'))).toHaveLength(1);
    expect(queries.slice(-2)).toEqual([expect.stringMatching(/^insert into outbox/), 'commit']);
    expect(await outbox()).toEqual([
      {
        event_id: ids[0],
        type: 'thread.updated',
        thread_id: 'thr_1',
        run_id: null,
        project_id: 'prj_1',
        feed: 'direct',
        data: { id: 'thr_1', status: 'ready' },
      },
      {
        event_id: ids[1],
        type: 'operation.updated',
        thread_id: null,
        run_id: null,
        project_id: null,
        feed: 'direct',
        data: { id: 'op_1', status: 'succeeded' },
      },
    ]);
  });

  test('of a transaction that is rolled back are not published, nor is anybody woken', async () => {
    const after = vi.fn();
    const id = newId('org');
    await expect(
      transaction({ db, bus }, async (tx) => {
        await tx.db.insertInto('organizations').values({ id, name: 'n' }).execute();
        appendEvent(tx, SCOPE, 'thread.updated', {});
        tx.wake('jobs');
        tx.afterCommit.push(after);
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect(await outbox()).toEqual([]);
    expect(await db.selectFrom('organizations').select('id').where('id', '=', id).execute()).toEqual([]);
    expect(bus.notify).not.toHaveBeenCalled();
    expect(after).not.toHaveBeenCalled();
  });
});

test('wake-ups go out once each, and callbacks in order, when the commit can be seen', async () => {
  const seen: unknown[] = [];
  const id = newId('org');
  vi.mocked(bus.notify).mockImplementation((...call) => {
    seen.push(call);
  });
  await transaction({ db, bus }, async (tx) => {
    tx.wake('jobs');
    tx.wake('operations', 'op_1');
    tx.wake('jobs');
    tx.afterCommit.push(
      () => {
        seen.push('first');
      },
      () => {
        seen.push('second');
      },
    );
    appendEvent(tx, SCOPE, 'thread.updated', {});
    appendEvent(tx, SCOPE, 'run.running', { id: 'run_1', status: 'running' });
    await tx.db.insertInto('organizations').values({ id, name: 'n' }).execute();
    expect(seen).toEqual([]);
  });
  expect(seen).toEqual([
    ['jobs', ''],
    ['operations', 'op_1'],
    ['outbox', ''],
    ['resources', 'run_1'],
    'first',
    'second',
  ]);
  expect(await db.selectFrom('organizations').select('id').where('id', '=', id).execute()).toHaveLength(1);
});

describe('again', () => {
  test('a real deadlock: both transactions commit in the end, and only what committed is published', async () => {
    const [a, b] = [await organization(), await organization()];
    const lock = (tx: { db: Db }, id: string) =>
      tx.db
        .updateTable('organizations')
        .set({ name: sql`name || '+'` })
        .where('id', '=', id)
        .execute();
    const both = Promise.withResolvers<void>();
    let holding = 0;
    let attempts = 0;
    const run = (first: string, second: string) =>
      transaction({ db, bus }, async (tx) => {
        attempts++;
        await lock(tx, first);
        if (++holding === 2) both.resolve();
        await both.promise;
        appendEvent(tx, SCOPE, 'thread.updated', { id: first });
        await lock(tx, second);
      });
    await Promise.all([run(a, b), run(b, a)]);
    // More if the second attempt takes its first row before the one that waits for it.
    expect(attempts).toBeGreaterThan(2);
    expect(
      (await db.selectFrom('organizations').select('name').where('id', 'in', [a, b]).execute()).map(
        (o) => o.name,
      ),
    ).toEqual(['n++', 'n++']);
    expect((await outbox()).map((e) => e.data.id).sort()).toEqual([a, b].sort());
  });

  test('a serialization failure, at most three times; nothing else', async () => {
    for (const [code, times] of [
      ['40001', 4],
      ['40P01', 4],
      ['23505', 1],
      ['57014', 1],
    ] as const) {
      const work = vi.fn(async () => {
        throw failure(code);
      });
      await expect(transaction({ db, bus }, work)).rejects.toThrow(code);
      expect(work).toHaveBeenCalledTimes(times);
    }
  });
});
