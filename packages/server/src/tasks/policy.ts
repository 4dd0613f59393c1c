/**
 * Loading a task is authorization: the task belongs to the caller's organization and to the key's projects, and
 * its project is not deleted.
 */
import type { Db } from '../db/database.ts';
import type { TaskRow } from '../db/schema.ts';
import type { EventScope, Tx } from '../db/transaction.ts';
import { notFound } from '../http/errors.ts';
import { seesProject } from '../http/principal.ts';
import type { Principal } from '../http/principal.ts';
import { scopeOf } from '../projects/index.ts';
import { readTask } from './store.ts';
import type { TaskDetails } from './store.ts';

interface Asked {
  principal: Principal;
  params: Record<string, string>;
}

interface LockedTask {
  task: TaskRow;
  scope: EventScope;
}

/** The task that the path names, with what its response shows. */
export async function loadTask(db: Db | Tx['db'], { principal, params }: Asked): Promise<TaskDetails> {
  return seen(principal, await readTask(db, params.taskId!));
}

/**
 * Locks the task that the path names, so that it gets no new threads and its project is not deleted. Lock order:
 * project, task, thread.
 */
export async function lockTask(tx: Tx, { principal, params }: Asked): Promise<LockedTask> {
  const locked = await lock(tx, params.taskId!, principal.orgId);
  seen(principal, locked?.task);
  return locked!;
}

/** Like `lockTask`, for a job; undefined if the task was deleted in the meantime. */
export const lockTaskById = (tx: Tx, id: string): Promise<LockedTask | undefined> => lock(tx, id, null);

/** With `orgId`, it neither locks nor waits for rows of other organizations. */
async function lock(tx: Tx, id: string, orgId: string | null): Promise<LockedTask | undefined> {
  let query = tx.db
    .selectFrom('tasks')
    .innerJoin('projects', 'projects.id', 'tasks.project_id')
    .selectAll('tasks')
    .select('projects.kind')
    .where('tasks.id', '=', id)
    .where('projects.deleted_at', 'is', null)
    .forUpdate('tasks')
    .forShare('projects');
  if (orgId !== null) query = query.where('tasks.org_id', '=', orgId);
  const row = await query.executeTakeFirst();
  if (!row) return undefined;
  const { kind, ...task } = row;
  return { task, scope: scopeOf({ org_id: task.org_id, id: task.project_id, kind }) };
}

function seen<T extends TaskRow>(principal: Principal, task: T | undefined): T {
  if (!task || task.org_id !== principal.orgId || !seesProject(principal, task.project_id))
    throw notFound('task');
  return task;
}
