import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openTestLog, until } from './events.fixture.ts';
import type { TestLog } from './events.fixture.ts';
import { createPartitions, removeExpired } from './partitions.ts';
import { readEvents, type Position } from './store.ts';

const DAY = 86_400;
let log: TestLog;
beforeEach(async () => {
  log = await openTestLog();
  // The database that tests clone has this week's.
  for (const name of await partitions())
    if (name !== 'events_default') await sql.raw(`drop table ${name}`).execute(log.ctx.db);
});
afterEach(() => log.close());

async function partitions(): Promise<string[]> {
  const { rows } = await sql<{
    name: string;
  }>`select inhrelid::regclass::text as name from pg_inherits where inhparent = 'events'::regclass order by 1`.execute(
    log.ctx.db,
  );
  return rows.map((r) => r.name);
}
const dayName = (offset: number) =>
  `events_${new Date(Date.now() + offset * DAY * 1000).toISOString().slice(0, 10).replaceAll('-', '')}`;

/** An event that was published `seconds` ago. */
const old = (sequence: number, seconds: number) =>
  sql`
  insert into events (org_id, sequence, event_id, feed, type, data, occurred_at, published_at)
  values ('org', ${sequence}, ${String(sequence)}, 'direct', 'run.queued', '{}', now(), now() - ${seconds} * interval '1 second')`.execute(
    log.ctx.db,
  );
const kept = async () =>
  (await log.ctx.db.selectFrom('events').select('sequence').orderBy('sequence').execute()).map(
    (r) => r.sequence,
  );

test('today’s partition and seven ahead are made, again without a fault; events go into today’s', async () => {
  await createPartitions(log.ctx.db);
  await createPartitions(log.ctx.db);
  expect(await partitions()).toEqual([...Array.from({ length: 8 }, (_, i) => dayName(i)), 'events_default']);
  log.publish();
  await log.write(['run.queued']);
  await until(async () => (await kept()).length === 1);
  const { rows } = await sql<{ name: string }>`select tableoid::regclass::text as name from events`.execute(
    log.ctx.db,
  );
  expect(rows).toEqual([{ name: dayName(0) }]);
});

test('a day that the default partition has rows of stays there; the others are made', async () => {
  await old(1, 0);
  await expect(createPartitions(log.ctx.db)).rejects.toThrow(/default partition/);
  expect(await partitions()).toEqual([
    ...Array.from({ length: 7 }, (_, i) => dayName(i + 1)),
    'events_default',
  ]);
});

test('days wholly past the retention are dropped, the default partition goes by time, the rest stays', async () => {
  for (const day of [-9, -8, -7])
    await sql
      .raw(
        `create table ${dayName(day)} partition of events for values from ('${dayName(day).slice(7)}') to ('${dayName(day + 1).slice(7)}')`,
      )
      .execute(log.ctx.db);
  await old(1, 9 * DAY);
  await old(2, 7 * DAY - 60);
  await old(3, 20 * DAY);
  await old(4, 60);
  await removeExpired(log.ctx.db, 7 * DAY);
  expect(await partitions()).toEqual([dayName(-7), 'events_default']);
  expect(await kept()).toEqual([2, 4]);
});

test('with a short retention rows go by their time, a little after their cursors', async () => {
  await createPartitions(log.ctx.db);
  await old(1, 30);
  await old(2, 12);
  await old(3, 1);
  await removeExpired(log.ctx.db, 5);
  expect(await kept()).toEqual([2, 3]);
});

test('a reader without a cursor starts at the oldest event that is not past the retention, also before it is deleted; one backwards ends there', async () => {
  await old(1, 12);
  await old(2, 1);
  const filter = { ...log.filter(), orgId: 'org', feed: 'direct' as const, projectId: null };
  const seenBehind = async (after: Position | null, order: 'asc' | 'desc' = 'asc') => {
    const page = await readEvents(log.ctx.db, { filter, after, order, limit: 10, retentionSeconds: 5 });
    return page.rows.map((row) => row.sequence);
  };
  expect(await seenBehind(null)).toEqual([2]);
  expect(await seenBehind({ sequence: 0, time: Date.now() - 60_000 })).toEqual([1, 2]);
  expect(await seenBehind(null, 'desc')).toEqual([2]);
  expect(await seenBehind({ sequence: 3, time: Date.now() }, 'desc')).toEqual([2]);
});
