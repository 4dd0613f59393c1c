/** The only writer of `workspace_records`, and the queries that sweep workspaces. */
import { sql } from 'kysely';
import type { Insertable, RawBuilder } from 'kysely';
import type { Db } from '../db/database.ts';
import type { ThreadRow, WorkspaceRecordsTable } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';

export async function insertRecord(tx: Tx, record: Insertable<WorkspaceRecordsTable>): Promise<void> {
  await tx.db.insertInto('workspace_records').values(record).execute();
}

/** The thread has no job: nobody uses its workspace. */
const isUnused = sql`not exists (select 1 from jobs j where j.key = 'thread:' || t.id)`;

/** A thread, and whose turns its jobs take. */
type ThreadOfOrg = Pick<ThreadRow, 'id' | 'org_id' | 'project_id'>;

/**
 * Threads whose workspace is to be archived: it is beyond its deadline, its thread is archived, or the end
 * of its runtime is not confirmed. After a failed attempt a thread counts again at its `workspace_retry_at`.
 */
export async function dueThreads(db: Db, now: RawBuilder<Date>, limit: number): Promise<ThreadOfOrg[]> {
  const { rows } = await sql<ThreadOfOrg>`
    select t.id, t.org_id, t.project_id from threads t
    where t.workspace_status in ('ready', 'cleanup_pending') and t.deleted_at is null
      and (t.workspace_status = 'cleanup_pending' or t.archived_at is not null or t.idle_expires_at <= ${now})
      and (t.workspace_retry_at is null or t.workspace_retry_at <= ${now})
      and t.active_exec_id is null and t.active_apply_id is null and t.active_build_id is null
      and not exists (select 1 from runs r where r.thread_id = t.id and r.status in ('queued', 'running', 'waiting'))
      and ${isUnused}
    order by t.idle_expires_at limit ${limit}`.execute(db);
  return rows;
}

/** Threads whose workspace was at a runner of this host that is none of the live ones; the first is current. */
export async function vanishedThreads(db: Db, live: readonly string[], limit: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select t.id from threads t
    where t.workspace_status = 'ready' and t.deleted_at is null
      and t.runner_id <> all(${live}::text[]) and split_part(t.runner_id, ':', 1) = split_part(${live[0]!}, ':', 1)
      and ${isUnused}
    limit ${limit}`.execute(db);
  return rows.map(({ id }) => id);
}

/** Whether any thread has its workspace at this runner. */
export async function hasWorkspaces(db: Db, runnerId: string): Promise<boolean> {
  const { rows } = await sql<{ some: boolean }>`
    select exists (select 1 from threads where runner_id = ${runnerId}
      and workspace_status in ('ready', 'cleanup_pending') and deleted_at is null) as some`.execute(db);
  return rows[0]!.some;
}
