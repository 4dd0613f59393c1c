/**
 * The log's partitions: one a day (UTC), made a week ahead, dropped when everything in them is past the
 * retention. Where a day is long against the retention, rows go by their time as well. Only the publisher's
 * holder does this; every step can be repeated.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Client } from 'pg';
import type { Context } from '../context.ts';
import type { Db } from '../db/database.ts';
import { deleteEventsBefore, slowestConsumer } from './store.ts';

const DAY_MS = 86_400_000;
const DAYS_AHEAD = 7;
const DELETE_BATCH = 5_000;
/** Rows outlive their cursors by this long, so that no reader of a valid cursor misses one. */
const DELETE_GRACE_SECONDS = 10;

const dayOf = (time: number) => new Date(Math.floor(time / DAY_MS) * DAY_MS);
const dayNamed = (name: string) => new Date(`${name.slice(7, 11)}-${name.slice(11, 13)}-${name.slice(13)}`);
const nameOf = (day: Date) => `events_${day.toISOString().slice(0, 10).replaceAll('-', '')}`;

async function databaseNow(db: Db): Promise<number> {
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db);
  return rows[0]!.now.getTime();
}

/** Attached partitions by day, the default one left out. */
async function listPartitions(db: Db): Promise<string[]> {
  const { rows } = await sql<{
    name: string;
  }>`select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'events'::regclass and c.relname ~ '^events_\\d{8}$' order by 1`.execute(
    db,
  );
  return rows.map((r) => r.name);
}

/**
 * Changes the partitions with a short lock wait: behind a dump's lock this would wait for long, and all
 * readers of the log behind it.
 */
const alter = (db: Db, statement: string) =>
  db.transaction().execute(async (tx) => {
    await sql`set local lock_timeout = '300ms'`.execute(tx);
    await sql.raw(statement).execute(tx);
  });

const defineDay = (day: Date) =>
  `create table if not exists ${nameOf(day)} partition of events for values from ('${day.toISOString()}') to ('${new Date(day.getTime() + DAY_MS).toISOString()}')`;

/** Makes the partition of this name, which is a day's, in the caller's transaction. */
export async function makePartition(client: Client, name: string): Promise<void> {
  await client.query(defineDay(dayNamed(name)));
}

/**
 * Makes today's partition and those of the days after it. A day of which the default partition has rows
 * already stays there and fails; the others are made all the same, and the first failure is thrown at the
 * end.
 */
export async function createPartitions(db: Db, daysAhead = DAYS_AHEAD): Promise<void> {
  const today = dayOf(await databaseNow(db)).getTime();
  const existing = new Set(await listPartitions(db));
  const failures: unknown[] = [];
  for (let i = 0; i <= daysAhead; i++) {
    const from = new Date(today + i * DAY_MS);
    if (existing.has(nameOf(from))) continue;
    await alter(db, defineDay(from)).catch((error: unknown) => failures.push(error));
  }
  if (failures.length) throw failures[0];
}

/**
 * Drops the days that are wholly past the retention; deletes by time in the default partition and, with a
 * short retention, in all.
 */
export async function removeExpired(db: Db, retentionSeconds: number): Promise<void> {
  const retentionMs = retentionSeconds * 1000;
  const due = (await databaseNow(db)) - retentionMs - DELETE_GRACE_SECONDS * 1000;
  // Events that a reader inside the service has not taken are kept for up to twice the retention.
  const waiting = (await slowestConsumer(db))?.getTime() ?? due;
  const keptFrom = Math.max(due - retentionMs, Math.min(due, waiting));
  for (const name of await listPartitions(db)) {
    if (dayNamed(name).getTime() + DAY_MS < keptFrom) await alter(db, `drop table if exists ${name}`);
  }
  const table = retentionMs < DAY_MS ? 'events' : 'events_default';
  while ((await deleteEventsBefore(db, table, new Date(keptFrom), DELETE_BATCH)) === DELETE_BATCH);
}

/** Keeps the partitions until `signal` ends it: hourly, with a short retention every few seconds. */
export async function expireEvents(
  ctx: Pick<Context, 'db' | 'config' | 'log'>,
  signal: AbortSignal,
): Promise<void> {
  const { eventRetentionSeconds } = ctx.config;
  const everyMs = Math.min(3_600_000, Math.max(1_000, eventRetentionSeconds * 250));
  while (!signal.aborted) {
    await createPartitions(ctx.db).catch((error: unknown) =>
      ctx.log.warn({ err: error }, 'partitions of the log could not be made ahead'),
    );
    await removeExpired(ctx.db, eventRetentionSeconds).catch((error: unknown) =>
      ctx.log.warn({ err: error }, 'the log could not be trimmed'),
    );
    await sleep(everyMs, undefined, { signal, ref: false }).catch(() => {});
  }
}
