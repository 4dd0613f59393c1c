/** The only writer of `tasks`. The store of threads writes their `task_id`. */
import { sql } from 'kysely';
import type { Insertable, Updateable } from 'kysely';
import type { Db } from '../db/database.ts';
import { countChanged } from '../db/purge.ts';
import type { Purge } from '../db/purge.ts';
import type { Database, TaskRow, TaskStatus } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';

/** A task with what its response shows of its threads. */
export type TaskDetails = TaskRow & { status: TaskStatus; thread_ids: string[] };

type NewTask = Insertable<Database['tasks']>;

/** Undefined if the project already has a task for the issue. */
export async function insertTask(tx: Tx, values: NewTask): Promise<TaskRow | undefined> {
  return tx.db
    .insertInto('tasks')
    .values(values)
    .onConflict((conflict) =>
      conflict.columns(['project_id', 'issue_key']).where('issue_key', 'is not', null).doNothing(),
    )
    .returningAll()
    .executeTakeFirst();
}

const countThread = { last_thread_index: sql<number>`tasks.last_thread_index + 1` };

/** Finds or creates the task of an issue, and counts its new thread. Concurrent threads are serialized here. */
export async function takeTaskOfIssue(tx: Tx, values: NewTask): Promise<TaskRow> {
  return tx.db
    .insertInto('tasks')
    .values({ ...values, last_thread_index: 1 })
    .onConflict((conflict) =>
      conflict
        .columns(['project_id', 'issue_key'])
        .where('issue_key', 'is not', null)
        .doUpdateSet(countThread),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Counts a new thread of a task; undefined if the project has no such task. */
export async function takeTask(tx: Tx, projectId: string, id: string): Promise<TaskRow | undefined> {
  return tx.db
    .updateTable('tasks')
    .set(countThread)
    .where('id', '=', id)
    .where('project_id', '=', projectId)
    .returningAll()
    .executeTakeFirst();
}

export async function writeTask(
  tx: Tx,
  id: string,
  columns: Pick<Updateable<Database['tasks']>, 'title' | 'title_awaits_issue' | 'set_status'>,
): Promise<void> {
  await tx.db
    .updateTable('tasks')
    .set({ ...columns, updated_at: sql<Date>`now()` })
    .where('id', '=', id)
    .execute();
}

/** Deletes a task that has no threads any more. */
export async function removeTask(tx: Tx, id: string): Promise<void> {
  await tx.db.deleteFrom('tasks').where('id', '=', id).execute();
}

const details = [
  sql<TaskStatus>`task_status(tasks.id, tasks.set_status)`.as('status'),
  sql<
    string[]
  >`array(select t.id from threads t where t.task_id = tasks.id and t.deleted_at is null order by t.thread_index)`.as(
    'thread_ids',
  ),
] as const;

const live = (db: Db | Tx['db']) =>
  db
    .selectFrom('tasks')
    .innerJoin('projects', 'projects.id', 'tasks.project_id')
    .selectAll('tasks')
    .select(details)
    .where('projects.deleted_at', 'is', null);

/** A task of a live project. */
export async function readTask(db: Db | Tx['db'], id: string): Promise<TaskDetails | undefined> {
  return live(db).where('tasks.id', '=', id).executeTakeFirst();
}

interface Filter {
  orgId: string;
  projectIds: ReadonlySet<string> | null;
  projectId?: string | undefined;
  status?: TaskStatus | undefined;
}

/** Tasks of live projects after `after`, newest first. A derived status is computed for each task. */
export async function listTasks(
  db: Db,
  filter: Filter,
  after: string | null,
  limit: number,
): Promise<TaskDetails[]> {
  let query = live(db).where('tasks.org_id', '=', filter.orgId);
  if (filter.projectIds) query = query.where('tasks.project_id', 'in', [...filter.projectIds, '']);
  if (filter.projectId !== undefined) query = query.where('tasks.project_id', '=', filter.projectId);
  if (filter.status !== undefined)
    query = query.where(sql`task_status(tasks.id, tasks.set_status)`, '=', filter.status);
  if (after !== null) query = query.where('tasks.id', '<', after);
  return query.orderBy('tasks.id', 'desc').limit(limit).execute();
}

/** SQL: the task of the thread `thread`, as its response shows it; null if it has none. */
export const taskOf = (thread: string) =>
  `case when ${thread}.task_id is not null then (select json_build_object('id', k.id, 'identifier', k.identifier,
    'title', k.title, 'status', task_status(k.id, k.set_status), 'threadIndex', ${thread}.thread_index)
    from tasks k where k.id = ${thread}.task_id) end`;

/** The result of `taskOf`. */
export type TaskJson = {
  id: string;
  identifier: string;
  title: string;
  status: TaskStatus;
  threadIndex: number;
} | null;

/** Purges the tasks of deleted projects, after their threads. */
export const purgeTasks: Purge = (db, projectIds, limit) =>
  countChanged(
    db,
    sql`delete from tasks where id in (select id from tasks where project_id = any(${projectIds}::text[]) limit ${limit})`,
  );
