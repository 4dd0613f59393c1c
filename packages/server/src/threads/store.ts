/** The only writer of `threads`. policy.ts loads and locks its rows. */
import { sql } from 'kysely';
import type { InsertObject, RawBuilder, UpdateObject } from 'kysely';
import type { Db } from '../db/database.ts';
import { prepared } from '../db/prepared.ts';
import { json } from '../db/schema.ts';
import type { Database, ThreadRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import type { ThreadWork } from './state.ts';

/** The columns that callers change; changeThread computes the others. */
export type ThreadChange = Omit<UpdateObject<Database, 'threads'>, 'status' | 'version' | 'updated_at'>;

export async function insertThread(tx: Tx, values: InsertObject<Database, 'threads'>): Promise<ThreadRow> {
  return tx.db.insertInto('threads').values(values).returningAll().executeTakeFirstOrThrow();
}

/** Writes columns as given. Changes that affect the status go through changeThread. */
export async function writeThread(
  tx: Tx,
  threadId: string,
  columns: UpdateObject<Database, 'threads'>,
): Promise<ThreadRow> {
  return tx.db
    .updateTable('threads')
    .set(columns)
    .where('id', '=', threadId)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/**
 * Writes columns of all threads of a task as a published change. Returns the threads that are not deleted. It is one
 * statement, however many threads there are. Rows are locked in the order of their ids.
 */
export async function writeThreadsOfTask(
  tx: Tx,
  taskId: string,
  columns: { task_id?: null; thread_index?: null },
): Promise<Pick<ThreadRow, 'id' | 'status'>[]> {
  const rows = await tx.db
    .with('ours', (db) =>
      db.selectFrom('threads').select('id').where('task_id', '=', taskId).orderBy('id').forUpdate(),
    )
    .updateTable('threads')
    .set({ ...columns, version: sql<number>`version + 1`, updated_at: sql<Date>`now()` })
    .where('id', 'in', (db) => db.selectFrom('ours').select('ours.id'))
    .returning(['id', 'status', 'deleted_at'])
    .execute();
  return rows.filter((row) => row.deleted_at === null).sort((a, b) => (a.id < b.id ? -1 : 1));
}

const countMessage = prepared<{ message_sequence: number }>(
  'count_message',
  'update threads set message_sequence = message_sequence + 1 where id = $1 returning message_sequence',
);

/** Returns the sequence of the thread's next message. */
export async function nextMessageSequence(tx: Tx, threadId: string): Promise<number> {
  const { rows } = await tx.db.executeQuery(countMessage([threadId]));
  if (!rows[0]) throw new Error(`There is no thread ${threadId}.`);
  return rows[0].message_sequence;
}

/** Notes the operation that changes a pull request of the thread: while it is under way it refuses others. */
export async function holdPullRequests(tx: Tx, threadId: string, operationId: string): Promise<void> {
  await tx.db
    .updateTable('threads')
    .set({ pull_request_operation_id: operationId })
    .where('id', '=', threadId)
    .execute();
}

/** Records the end of a deleted thread's build, without an event. */
export async function clearActiveBuild(tx: Tx, threadId: string): Promise<void> {
  await tx.db.updateTable('threads').set({ active_build_id: null }).where('id', '=', threadId).execute();
}

/** Records the source that the workspace holds; null while that is no source, or unknown. */
export async function setWorkspaceSource(
  tx: Tx,
  threadId: string,
  sourceId: string | null,
): Promise<ThreadRow> {
  return writeThread(tx, threadId, { workspace_source_id: sourceId });
}

/** Counts a failed attempt to archive the workspace; the sweep tries again after `retryAt`. */
export async function delayArchive(tx: Tx, threadId: string, retryAt: RawBuilder<Date>): Promise<void> {
  await tx.db
    .updateTable('threads')
    .set({ workspace_failures: sql<number>`workspace_failures + 1`, workspace_retry_at: retryAt })
    .where('id', '=', threadId)
    .execute();
}

/** Ends the idle time of the workspaces at a runner. One statement on `db`: it needs no transaction. */
export async function endIdleTimes(db: Db, runnerId: string): Promise<void> {
  await db
    .updateTable('threads')
    .set({ idle_expires_at: new Date(0) })
    .where('runner_id', '=', runnerId)
    // As the index of ready workspaces has it: this runs every second, and a runner has no index.
    .where('workspace_status', '=', 'ready')
    .where('deleted_at', 'is', null)
    .where('idle_expires_at', '>', new Date(0))
    .execute();
}

/** Ends the idle time of ready workspaces. One statement on `db`: it needs no transaction. */
export async function expireIdle(db: Db, threadIds: string[], now: RawBuilder<Date>): Promise<void> {
  await db
    .updateTable('threads')
    .set({ idle_expires_at: now })
    .where('id', 'in', threadIds)
    .where('workspace_status', '=', 'ready')
    .where('idle_expires_at', '>', now)
    .execute();
}

/** Shows how far a preparation is. One statement on `db`: it needs no transaction. */
export async function setInitializationPhase(
  db: Db,
  threadId: string,
  phase: Pick<ThreadChange, 'initialization_phase' | 'workspace_setup_status'>,
): Promise<void> {
  await db
    .updateTable('threads')
    .set({ ...phase, initialization_updated_at: sql<Date>`now()` })
    .where('id', '=', threadId)
    .where('initialization_state', '=', 'preparing')
    .execute();
}

const selectWork = prepared<{ active: 'running' | 'waiting' | null; queued: number }>(
  'work_of_thread',
  `select (select status from runs where thread_id = $1 and status in ('running', 'waiting')) as active,
    (select count(*) from runs where thread_id = $1 and status = 'queued') as queued`,
);

/** The open runs of a thread, in one round trip; each is found without the ended ones. */
export async function threadWork(db: Db | Tx['db'], threadId: string): Promise<ThreadWork> {
  const {
    rows: [work],
  } = await db.executeQuery(selectWork([threadId]));
  return { active: work!.active, queuedRuns: work!.queued };
}

/** Empties deleted threads, whose runs usage still counts. */
export async function markThreadsPurged(db: Db, threadIds: readonly string[]): Promise<void> {
  await db
    .updateTable('threads')
    .set({
      title: null,
      metadata: json({}),
      initialization_error_message: null,
      tracker_issue_url: null,
      error_tracker_issue: null,
      execution_target: null,
      base_branch: null,
      task_id: null,
      thread_index: null,
      purged_at: sql<Date>`now()`,
    })
    .where('id', 'in', threadIds)
    .execute();
}
