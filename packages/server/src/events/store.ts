/**
 * The only writer of the log (`events`, `log_state`, `log_consumers`). Rows of `outbox` are inserted as
 * transactions commit (`db/transaction.ts`) and deleted here. Every read of the log takes its end and the
 * clock from the same snapshot as its rows.
 */
import { CompiledQuery, sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { Client } from 'pg';
import type { Db } from '../db/database.ts';
import { countChanged } from '../db/purge.ts';
import type { Purge } from '../db/purge.ts';
import { prepared, preparedAs } from '../db/prepared.ts';
import type { ConsumerName, EventRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { parts } from './filter.ts';
import type { EventFilter } from './filter.ts';

/**
 * A place in the log: behind `sequence`. `time` (ms, the database's clock) is when that was the log's end.
 */
export interface Position {
  sequence: number;
  time: number;
}

/** Where the log ended at a read, and its generation then. */
export interface LogEnd extends Position {
  generation: number;
}

export interface LogPage {
  rows: EventRow[];
  /**
   * The published end at the moment of the read: everything up to it that is not in `rows` (when they are
   * fewer than the limit) was filtered out.
   */
  end: LogEnd;
}

/**
 * A cursor's time may run ahead of the events right behind it by a batch's commit; an hour is far beyond
 * every statement's limit. Lets the planner leave out the partitions before.
 */
const PRUNE_SLACK_MS = 3_600_000;

type Joined = { end_sequence: number; generation: number; now: Date } & {
  [K in keyof EventRow]: EventRow[K] | null;
};

function pageOf(rows: Joined[]): LogPage {
  const { end_sequence: sequence, generation, now } = rows[0]!;
  return {
    rows: rows[0]!.sequence === null ? [] : (rows as EventRow[]),
    end: { sequence, time: now.getTime(), generation },
  };
}

export type Order = 'asc' | 'desc';

interface LogQuery {
  filter: EventFilter;
  /** Null: from the oldest retained event on; backwards from the newest one. */
  after: Position | null;
  /** asc when omitted. */
  order?: Order;
  limit: number;
  retentionSeconds: number;
}

/** The part of the log after `after` in this order. Publishing times never decrease along the sequence. */
function behind({ after, order = 'asc', retentionSeconds }: LogQuery): RawBuilder<unknown> {
  const isRetained = sql`published_at > now() - ${retentionSeconds} * interval '1 second'`;
  if (!after) return isRetained;
  return order === 'asc'
    ? sql`sequence > ${after.sequence} and published_at >= ${new Date(after.time - PRUNE_SLACK_MS)}`
    : sql`sequence < ${after.sequence} and published_at <= ${new Date(after.time)} and ${isRetained}`;
}

/** At most `limit` events of the filter after `after`. */
export async function readEvents(db: Db, query: LogQuery): Promise<LogPage> {
  const { filter, order = 'asc', limit } = query;
  const from = behind(query);
  const found = parts(filter).map((part) => sql`(select * from events where ${part} and ${from})`);
  const { rows } = await sql<Joined>`
    select s.last_sequence as end_sequence, s.generation, clock_timestamp() as now, e.*
    from log_state s left join lateral (
      select * from (${sql.join(found, sql` union all `)}) as found order by sequence ${sql.raw(order)} limit ${limit}
    ) e on true`.execute(db);
  return pageOf(rows);
}

const READ_ALL = prepared<Joined>(
  'read_all_events',
  `
  select s.last_sequence as end_sequence, s.generation, clock_timestamp() as now, e.*
  from log_state s left join lateral (
    select org_id, sequence, event_id, feed, type, project_id, thread_id, run_id, data, occurred_at, published_at
    from events where sequence > $1 and published_at >= $2 order by sequence limit $3) e on true`,
);

/**
 * Every event behind `sequence`, of all organizations, for the process's tail. They were published at `since`
 * or later: publishing times never go back. The clock may, and a tail that trusted it would then see nothing
 * until it has caught up.
 */
export async function readAll(db: Db, sequence: number, since: Date, limit: number): Promise<LogPage> {
  const { rows } = await db.executeQuery(READ_ALL([sequence, since, limit]));
  return pageOf(rows);
}

const passIdle = (idleWhen: string) => `
  with passed as (
    update log_consumers c set sequence = s.last_sequence, published_at = s.last_published_at from log_state s
    where c.name = (select name from log_consumers where name = $1 for update skip locked) and c.sequence < s.last_sequence and ${idleWhen}
    returning c.name
  )
  select c.sequence < s.last_sequence and not exists (select from passed) as has_more
  from log_consumers c, log_state s where c.name = $1`;

/**
 * Whether the log has events that a reader inside the service has not taken. While `idleWhen` (SQL of constant text)
 * holds, no event concerns the reader: its position moves to the log's end in this statement.
 */
export async function hasMore(db: Db, name: ConsumerName, idleWhen: string): Promise<boolean> {
  const query = CompiledQuery.raw(passIdle(idleWhen), [name]) as CompiledQuery<{ has_more: boolean }>;
  const { rows } = await db.executeQuery(preparedAs('consumer_has_more', query));
  return rows[0]!.has_more;
}

/** A reader's position, locked for its next batch; undefined if another process has it locked. */
export const takePosition = (tx: Tx, name: ConsumerName) =>
  tx.db
    .selectFrom('log_consumers')
    .select(['sequence', 'published_at'])
    .where('name', '=', name)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst();

export async function moveConsumer(tx: Tx, name: ConsumerName, { sequence, time }: Position): Promise<void> {
  await tx.db
    .updateTable('log_consumers')
    .set({ sequence, published_at: new Date(time) })
    .where('name', '=', name)
    .execute();
}

/** The time up to which the slowest reader inside the service has taken events; null: all have taken everything. */
export async function slowestConsumer(db: Db): Promise<Date | null> {
  const { rows } = await sql<{ time: Date | null }>`
    select min(c.published_at) as time from log_consumers c, log_state s where c.sequence < s.last_sequence`.execute(
    db,
  );
  return rows[0]!.time;
}

/** The log's last sequence, in the caller's transaction: later events have higher ones. */
export async function lastSequence(db: Db): Promise<number> {
  const { last_sequence: last } = await db
    .selectFrom('log_state')
    .select('last_sequence')
    .executeTakeFirstOrThrow();
  return last;
}

/** Where the log ends now; `publishedAt` is the time of its last event. */
export async function readEnd(db: Db): Promise<LogEnd & { publishedAt: Date }> {
  const { rows } = await sql<{
    sequence: number;
    now: Date;
    publishedAt: Date;
    generation: number;
  }>`select last_sequence as sequence, clock_timestamp() as now, last_published_at as "publishedAt", generation from log_state`.execute(
    db,
  );
  const { sequence, now, publishedAt, generation } = rows[0]!;
  return { sequence, time: now.getTime(), publishedAt, generation };
}

/** The project of a thread of this organization, deleted ones included: their events stay readable. */
export const findThreadProject = (db: Db, orgId: string, threadId: string) =>
  db
    .selectFrom('threads')
    .innerJoin('projects', 'projects.id', 'threads.project_id')
    .select(['projects.id', 'projects.kind'])
    .where('threads.id', '=', threadId)
    .where('threads.org_id', '=', orgId)
    .executeTakeFirst();

/** The most events in one batch. */
export const PUBLISH_BATCH = 500;

/**
 * One statement, so one snapshot and one transaction. A transaction's events stay together, in their order:
 * `xmin` says whose a row is, and its first id gives its place. A cause's rows are committed before its
 * effect's get their ids.
 */
const PUBLISH = `
  with batch as (
    select o.*, min(o.id) over (partition by o.writer) as first_id from (select *, xmin::text as writer from outbox where id > $1 order by id limit ${PUBLISH_BATCH}) o
  ), gone as (
    delete from outbox using batch where outbox.id = batch.id
  ), state as (
    update log_state set
      last_sequence = last_sequence + (select count(*) from batch),
      last_published_at = greatest(last_published_at, clock_timestamp(), (select max(occurred_at) from batch))
    where exists (select 1 from batch)
    returning last_sequence, last_published_at
  )
  insert into events (org_id, sequence, event_id, feed, type, project_id, thread_id, run_id, data, occurred_at, published_at)
  select b.org_id, s.last_sequence - count(*) over () + row_number() over (order by b.first_id, b.id), b.event_id, b.feed, b.type, b.project_id, b.thread_id, b.run_id, b.data, b.occurred_at, s.last_published_at
  from batch b cross join state s`;

/** Publishes the next rows of the outbox behind `floor`. Returns how many. */
export async function publishBatch(client: Client, floor: number): Promise<number> {
  const { rowCount } = await client.query({ name: 'publish', text: PUBLISH, values: [floor] });
  return rowCount ?? 0;
}

/** Deletes one batch of events published before `time`, from all partitions or from the default one. Returns how many. */
export async function deleteEventsBefore(
  db: Db,
  table: 'events' | 'events_default',
  time: Date,
  limit: number,
): Promise<number> {
  const from = sql.table(table);
  const { numAffectedRows } = await sql`
    delete from ${from} where (sequence, published_at) in (
      select sequence, published_at from ${from} where published_at < ${time} limit ${limit})`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/** An active run, whose draft can be read at its runner. */
export interface DraftRun {
  id: string;
  threadId: string;
  messageId: string;
}

/** The thread's active run, if an agent works in it. */
export const findDraftRun = (db: Db, threadId: string): Promise<DraftRun | undefined> =>
  db
    .selectFrom('runs')
    .select(['id', 'thread_id as threadId', 'reply_message_id as messageId'])
    .where('thread_id', '=', threadId)
    .where(sql<boolean>`status in ('running', 'waiting')`)
    .where('kind', '!=', 'restore')
    .executeTakeFirst();

const RAISED = 'greatest(log_state.generation + 1, (extract(epoch from clock_timestamp()) * 1000)::bigint)';

/**
 * Raises the log's generation, in the caller's transaction, to one that no cursor has: also those that were made
 * after another restore of the same backup.
 */
export async function raiseGeneration(client: Client): Promise<number> {
  const { rows } = await client.query<{ generation: string }>(
    `update log_state set generation = ${RAISED} returning generation`,
  );
  return Number(rows[0]!.generation);
}

/**
 * Begins a generation where the log is on another timeline than before: after a failover or a recovery it may have lost
 * its end, and gives those sequences again. Nobody can tell, so cursors from before expire. The publisher calls it
 * under its lock, on the connection that it publishes on, so no event is on a timeline without its generation. Returns
 * whether it did.
 */
export async function followTimeline(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ is_raised: boolean }>(
    `update log_state set timeline = now.timeline,
       generation = case when log_state.timeline is null then log_state.generation else ${RAISED} end
     from (select server_timeline() as timeline) as now, log_state as before
     where log_state.timeline is distinct from now.timeline
     returning before.timeline is not null as is_raised`,
  );
  return rows[0]?.is_raised ?? false;
}

/** Drafts of deleted threads that a process of the last release has stored: the release after this one drops their table. */
export const purgeDrafts: Purge = (db, threadIds, limit) =>
  countChanged(
    db,
    sql`delete from drafts where thread_id in (select thread_id from drafts where thread_id = any(${threadIds}::text[]) limit ${limit})`,
  );
