/**
 * SQL on the published log. Every read takes the log's end and the clock from the same snapshot as its
 * rows.
 */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { Db } from '../db/database.ts';
import { prepared } from '../db/prepared.ts';
import type { EventRow } from '../db/schema.ts';
import { condition } from './filter.ts';
import type { EventFilter } from './filter.ts';

/** A place in the log: behind `sequence`. `time` (ms, the database's clock) is when the log stood there. */
export interface Position {
  sequence: number;
  time: number;
}

export interface LogPage {
  rows: EventRow[];
  /**
   * The published end at the moment of the read: everything up to it that is not in `rows` (when they are
   * fewer than asked) was filtered out.
   */
  end: Position;
}

/**
 * A cursor's time may run ahead of the events right behind it by a batch's commit; an hour is far beyond
 * every statement's limit. Lets the planner leave out the partitions before.
 */
const PRUNE_SLACK_MS = 3_600_000;

type Joined = { end_sequence: number; now: Date } & { [K in keyof EventRow]: EventRow[K] | null };

async function read(db: Db, where: RawBuilder<boolean>, limit: number): Promise<LogPage> {
  const { rows } = await sql<Joined>`
    select s.last_sequence as end_sequence, clock_timestamp() as now, e.*
    from log_state s left join lateral (select * from events where ${where} order by sequence limit ${limit}) e on true`.execute(
    db,
  );
  return pageOf(rows);
}

function pageOf(rows: Joined[]): LogPage {
  const { end_sequence: sequence, now } = rows[0]!;
  return {
    rows: rows[0]!.sequence === null ? [] : (rows as EventRow[]),
    end: { sequence, time: now.getTime() },
  };
}

/** At most `limit` events of the filter behind `after`; without it from the oldest retained on. */
export function readEvents(
  db: Db,
  filter: EventFilter,
  after: Position | null,
  limit: number,
  retentionSeconds: number,
): Promise<LogPage> {
  const from = after
    ? sql`sequence > ${after.sequence} and published_at >= ${new Date(after.time - PRUNE_SLACK_MS)}`
    : sql`published_at > now() - ${retentionSeconds} * interval '1 second'`;
  return read(db, sql<boolean>`${condition(filter)} and ${from}`, limit);
}

const READ_ALL = prepared<Joined>(
  'read_all_events',
  `
  select s.last_sequence as end_sequence, clock_timestamp() as now, e.*
  from log_state s left join lateral (
    select org_id, sequence, event_id, feed, type, project_id, thread_id, run_id, data, occurred_at, published_at
    from events where sequence > $1 and published_at >= $2 order by sequence limit $3) e on true`,
);

/**
 * Every event behind `sequence`, of all organizations: for the process's tail. They were published at
 * `since` or later: publishing times never go back, the clock may, and a tail that went by it would then
 * see nothing until it has caught up.
 */
export async function readAll(db: Db, sequence: number, since: Date, limit: number): Promise<LogPage> {
  const { rows } = await db.executeQuery(READ_ALL([sequence, since, limit]));
  return pageOf(rows);
}

/** Where the log ends now; `publishedAt` is the time of its last event. */
export async function readEnd(db: Db): Promise<Position & { publishedAt: Date }> {
  const { rows } = await sql<{
    sequence: number;
    now: Date;
    publishedAt: Date;
  }>`select last_sequence as sequence, clock_timestamp() as now, last_published_at as "publishedAt" from log_state`.execute(
    db,
  );
  const { sequence, now, publishedAt } = rows[0]!;
  return { sequence, time: now.getTime(), publishedAt };
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
