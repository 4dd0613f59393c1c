/** The only writer of `pull_requests` and `review_loops`. Changes that clients see go through change-pull-request.ts. */
import { sql } from 'kysely';
import type { Insertable, Updateable } from 'kysely';
import type { Db } from '../db/database.ts';
import { countChanged } from '../db/purge.ts';
import type { Purge } from '../db/purge.ts';
import type { PullRequestRow, PullRequestsTable, ReviewLoopRow, ReviewLoopsTable } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import type { ListedPullRequest, LoadedPullRequest } from './view.ts';

type Reader = Db | Tx['db'];

const FEW = 16;

export async function insertRow(tx: Tx, values: Insertable<PullRequestsTable>): Promise<PullRequestRow> {
  return tx.db.insertInto('pull_requests').values(values).returningAll().executeTakeFirstOrThrow();
}

export async function writeRow(
  tx: Tx,
  id: string,
  columns: Updateable<PullRequestsTable>,
): Promise<PullRequestRow> {
  return tx.db
    .updateTable('pull_requests')
    .set(columns)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function insertLoop(tx: Tx, values: Insertable<ReviewLoopsTable>): Promise<ReviewLoopRow> {
  return tx.db.insertInto('review_loops').values(values).returningAll().executeTakeFirstOrThrow();
}

export async function writeLoop(
  tx: Tx,
  id: string,
  columns: Updateable<ReviewLoopsTable>,
): Promise<ReviewLoopRow> {
  return tx.db
    .updateTable('review_loops')
    .set(columns)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

async function withLoops(db: Reader, rows: PullRequestRow[]): Promise<LoadedPullRequest[]> {
  if (rows.length === 0) return [];
  const loops = await db
    .selectFrom('review_loops')
    .selectAll()
    .where(
      'pull_request_id',
      'in',
      rows.map(({ id }) => id),
    )
    .execute();
  return rows.map((row) => ({ row, loop: loops.find((loop) => loop.pull_request_id === row.id) ?? null }));
}

export async function findPullRequest(
  db: Reader,
  threadId: string,
  id: string,
): Promise<LoadedPullRequest | undefined> {
  const rows = await db
    .selectFrom('pull_requests')
    .selectAll()
    .where('id', '=', id)
    .where('thread_id', '=', threadId)
    .execute();
  return (await withLoops(db, rows))[0];
}

export async function findPullRequestById(db: Reader, id: string): Promise<LoadedPullRequest | undefined> {
  const rows = await db.selectFrom('pull_requests').selectAll().where('id', '=', id).execute();
  return (await withLoops(db, rows))[0];
}

/** Locks it. Lock order: its project, its thread, then it. */
export async function lockPullRequest(tx: Tx, id: string): Promise<LoadedPullRequest | undefined> {
  const rows = await tx.db.selectFrom('pull_requests').selectAll().where('id', '=', id).forUpdate().execute();
  return (await withLoops(tx.db, rows))[0];
}

/** The open one that a thread pushes to. */
export async function findOpen(db: Reader, threadId: string): Promise<PullRequestRow | undefined> {
  return db
    .selectFrom('pull_requests')
    .selectAll()
    .where('thread_id', '=', threadId)
    .where('state', '=', 'open')
    .where('transferred_at', 'is', null)
    .executeTakeFirst();
}

/** All records of one at the provider: of the thread that has it, and of threads that had it. */
export async function findByNumber(
  db: Reader,
  repositoryId: string,
  number: number,
): Promise<PullRequestRow[]> {
  return db
    .selectFrom('pull_requests')
    .selectAll()
    .where('repository_id', '=', repositoryId)
    .where('number', '=', number)
    .orderBy('id')
    .execute();
}

/** Pull requests that are not merged, by their number or their head. */
export async function findUnmerged(
  db: Reader,
  repositoryId: string,
  of: { number: number } | { commitSha: string },
): Promise<Pick<PullRequestRow, 'id' | 'org_id' | 'project_id'>[]> {
  const query = db
    .selectFrom('pull_requests')
    .select(['id', 'org_id', 'project_id'])
    .where('repository_id', '=', repositoryId)
    .where('state', '!=', 'merged');
  return 'number' in of
    ? query.where('number', '=', of.number).execute()
    : query.where('head_sha', '=', of.commitSha).execute();
}

/** How many a thread has had. */
export async function countPullRequests(db: Reader, threadId: string): Promise<number> {
  const { count } = await db
    .selectFrom('pull_requests')
    .select((q) => q.fn.countAll<number>().as('count'))
    .where('thread_id', '=', threadId)
    .executeTakeFirstOrThrow();
  return count;
}

/** A page of a thread's, newest first. */
export async function listPullRequests(
  db: Db,
  threadId: string,
  after: string | null,
  limit: number,
): Promise<LoadedPullRequest[]> {
  let query = db
    .selectFrom('pull_requests')
    .selectAll()
    .where('thread_id', '=', threadId)
    .orderBy('id', 'desc')
    .limit(limit);
  if (after !== null) query = query.where('id', '<', after);
  return withLoops(db, await query.execute());
}

/** A thread's pull requests, oldest first. A few are read at a time, since their bodies may be long. */
export async function* oldestFirst(db: Reader, threadId: string): AsyncGenerator<LoadedPullRequest> {
  let rows: PullRequestRow[] = [];
  do {
    rows = await db
      .selectFrom('pull_requests')
      .selectAll()
      .where('thread_id', '=', threadId)
      .where('id', '>', rows.at(-1)?.id ?? '')
      .orderBy('id')
      .limit(FEW)
      .execute();
    yield* await withLoops(db, rows);
  } while (rows.length > 0);
}

/** SQL: the pull requests of a thread, newest first, as JSON; null where it has none. */
export const listedOf = (threadId: string) =>
  `(select json_agg(to_jsonb(p) - 'body' || jsonb_build_object('loop', to_jsonb(l)) order by p.id desc)
    from pull_requests p left join review_loops l on l.pull_request_id = p.id where p.thread_id = ${threadId})`;

const TIMES = [
  'transferred_at',
  'push_retry_at',
  'merged_at',
  'scm_summary_updated_at',
  'reviews_read_at',
  'looked_at',
  'next_look_at',
  'created_at',
  'updated_at',
] as const satisfies (keyof PullRequestRow)[];
const LOOP_TIMES = [
  'last_observed_at',
  'wait_until',
  'enabled_at',
  'status_since',
  'head_seen_at',
  'unknown_since',
  'created_at',
  'updated_at',
] as const satisfies (keyof ReviewLoopRow)[];

/** What `listedOf` reads. */
export type ListedJson = (Omit<PullRequestRow, 'body'> & { loop: ReviewLoopRow | null })[] | null;

export function listedFrom(json: ListedJson): ListedPullRequest[] {
  return (json ?? []).map(({ loop, ...row }) => ({
    row: revived(row, TIMES),
    loop: loop && revived(loop, LOOP_TIMES),
  }));
}

/** With dates in place of the times that JSON carries as text. */
function revived<T extends object>(row: T, times: readonly (keyof T)[]): T {
  const dates = times.map((name) => [name, row[name] === null ? null : new Date(row[name] as string)]);
  return { ...row, ...(Object.fromEntries(dates) as Partial<T>) };
}

/** Takes those whose look is due; their next one is due later, whatever becomes of this one. */
export async function takeDue(tx: Tx, limit: number, nextSeconds: number): Promise<PullRequestRow[]> {
  return tx.db
    .updateTable('pull_requests')
    .set({ next_look_at: sql<Date>`now() + ${nextSeconds} * interval '1 second'` })
    .where('id', 'in', (q) =>
      q
        .selectFrom('pull_requests')
        .select('id')
        .where('next_look_at', '<=', sql<Date>`now()`)
        .orderBy('next_look_at')
        .limit(limit)
        .forUpdate()
        .skipLocked(),
    )
    .returningAll()
    .execute();
}

/** Those of a repository that may change are looked at now: all of them, or those of these numbers. */
export async function makeDue(
  db: Db,
  repositoryId: string,
  numbers: readonly number[] | 'all',
): Promise<void> {
  await db
    .updateTable('pull_requests')
    .set(({ eb }) => ({
      next_look_at: sql<Date>`now()`,
      // What names no number says nothing of reviews.
      ...(numbers === 'all' ? {} : { hints: eb('hints', '+', 1) }),
    }))
    .where('repository_id', '=', repositoryId)
    .$if(numbers !== 'all', (q) => q.where('number', '=', sql<number>`any(${numbers}::bigint[])`))
    .where('state', '!=', 'merged')
    .where('thread_id', 'in', (q) => q.selectFrom('threads').select('id').where('deleted_at', 'is', null))
    .execute();
}

/** Those of deleted threads. */
export const purgePullRequests: Purge = async (db, threadIds, limit) => {
  await sql`delete from review_loops where thread_id = any(${threadIds}::text[])`.execute(db);
  return countChanged(
    db,
    sql`delete from pull_requests where id in (select id from pull_requests where thread_id = any(${threadIds}::text[]) limit ${limit})`,
  );
};
