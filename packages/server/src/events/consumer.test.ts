import { afterEach, beforeEach, expect, test } from 'vitest';
import { caughtUp, startConsumer, takeBatch } from './consumer.ts';
import type { Consumer } from './consumer.ts';
import { openTestLog, until } from './events.fixture.ts';
import type { TestLog } from './events.fixture.ts';
import { hasMore, slowestConsumer } from './store.ts';

let log: TestLog;
beforeEach(async () => {
  log = await openTestLog();
  log.publish();
});
afterEach(() => log.close());

/** Notes what it takes, in a table: gone where its transaction is. */
async function noting(): Promise<{ consumer: Consumer; taken: () => Promise<string[]> }> {
  const { db } = log.ctx;
  await db.schema.createTable('taken').addColumn('number', 'serial').addColumn('type', 'text').execute();
  const table = db.withTables<{ taken: { number: number; type: string } }>();
  return {
    consumer: {
      name: 'webhooks',
      idleWhen: 'false',
      async take(tx, events) {
        for (const { type } of events)
          await tx.db
            .withTables<{ taken: { type: string } }>()
            .insertInto('taken')
            .values({ type })
            .execute();
      },
    },
    taken: async () =>
      (await table.selectFrom('taken').select('type').orderBy('number').execute()).map(({ type }) => type),
  };
}

test('what fails midway is taken again, what is committed is not', async () => {
  const { consumer, taken } = await noting();
  await log.write(['run.queued']);
  await log.write(['run.running']);
  await until(async () => (await log.ctx.db.selectFrom('events').selectAll().execute()).length === 2);
  const failing: Pick<Consumer, 'name' | 'take'> = {
    name: 'webhooks',
    async take(tx, events) {
      await consumer.take(tx, events);
      throw new Error('it ends before the commit');
    },
  };
  await expect(takeBatch(log.ctx, failing)).rejects.toThrow('before the commit');
  expect(await taken()).toEqual([]);
  expect(await slowestConsumer(log.ctx.db)).not.toBeNull();
  expect(await takeBatch(log.ctx, consumer)).toBe(2);
  expect(await takeBatch(log.ctx, consumer)).toBe(0);
  expect(await taken()).toEqual(['run.queued', 'run.running']);
});

test('a reader passes what the log has forgotten, and takes what comes after', async () => {
  const { consumer, taken } = await noting();
  const { db } = log.ctx;
  const published = async () => (await db.selectFrom('events').selectAll().execute()).length === 1;
  await log.write(['run.queued']);
  await until(published);
  await db.deleteFrom('events').execute();
  expect(await takeBatch(log.ctx, consumer)).toBe(0);
  expect(await hasMore(db, 'webhooks', 'false')).toBe(false);
  await log.write(['run.running']);
  await until(published);
  expect(await takeBatch(log.ctx, consumer)).toBe(1);
  expect(await taken()).toEqual(['run.running']);
});

test('two processes take each event once, in order, and a caller waits until they have', async () => {
  const { consumer, taken } = await noting();
  const shutdown = new AbortController();
  const both = [1, 2].map(() => startConsumer({ ...log.ctx, shutdown: shutdown.signal }, consumer));
  const types = Array.from({ length: 40 }, (_, n) => `run.${n}`);
  for (const type of types) await log.write([type]);
  await caughtUp(log.ctx, 'webhooks');
  expect(await taken()).toEqual(types);
  await Promise.all(both.map((one) => one.stop()));
});

test('what no event concerns passes them in one statement, and takes what comes after', async () => {
  const { consumer, taken } = await noting();
  const { db } = log.ctx;
  const published = (count: number) =>
    until(async () => (await db.selectFrom('events').selectAll().execute()).length === count);
  await log.write(['run.queued']);
  await published(1);
  expect(await hasMore(db, 'webhooks', 'true')).toBe(false);
  expect(await slowestConsumer(db)).not.toBeNull(); // of the other reader
  await log.write(['run.running']);
  await published(2);
  expect(await hasMore(db, 'webhooks', 'false')).toBe(true);
  expect(await takeBatch(log.ctx, consumer)).toBe(1);
  expect(await taken()).toEqual(['run.running']);
});
