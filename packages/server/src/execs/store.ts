/** The only writer of `execs`. */
import { sql } from 'kysely';
import type { Insertable } from 'kysely';
import type { Db } from '../db/database.ts';
import { countChanged } from '../db/purge.ts';
import type { Purge } from '../db/purge.ts';
import { hasStatus } from '../db/has-status.ts';
import type { ExecRow, ExecsTable } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { execChange, isEnded, OPEN } from './state.ts';
import type { ExecEvent } from './state.ts';

/** Commands that have not ended. */
const openExecs = hasStatus('execs', OPEN);

export async function insertExec(tx: Tx, exec: Omit<Insertable<ExecsTable>, 'status'>): Promise<void> {
  await tx.db
    .insertInto('execs')
    .values({ ...exec, status: 'queued' })
    .execute();
}

export async function findExec(db: Db, execId: string): Promise<ExecRow | undefined> {
  return db.selectFrom('execs').selectAll().where('id', '=', execId).executeTakeFirst();
}

/** Whether the command has not ended, and was sent less than `seconds` ago. */
export async function isOpenAndYoung(tx: Tx, execId: string, seconds: number): Promise<boolean> {
  const exec = await tx.db
    .selectFrom('execs')
    .select('id')
    .where('id', '=', execId)
    .where(openExecs)
    .where('created_at', '>', sql<Date>`now() - ${seconds} * interval '1 second'`)
    .executeTakeFirst();
  return exec !== undefined;
}

/** Every change of a command's status; nothing happens when its status is none that the event needs. */
export async function changeExec(tx: Tx, execId: string, event: ExecEvent): Promise<void> {
  const { from, to } = execChange(event);
  await tx.db
    .updateTable('execs')
    .set({ status: to, ...(isEnded(to) ? { stdin: null } : {}) })
    .where('id', '=', execId)
    .where(hasStatus('execs', from))
    .execute();
}

/** Commands of deleted threads. One that has not ended settles its receipt first. */
export const purgeExecs: Purge = (db, threadIds, limit) =>
  countChanged(
    db,
    sql`delete from execs where id in (select id from execs where thread_id = any(${threadIds}::text[]) and not ${openExecs} limit ${limit})`,
  );

/** Commands of deleted projects, likewise. */
export const purgeProjectExecs: Purge = (db, projectIds, limit) =>
  countChanged(
    db,
    sql`delete from execs where id in (select id from execs where project_id = any(${projectIds}::text[]) and not ${openExecs} limit ${limit})`,
  );

export async function hasExecs(db: Db, projectId: string): Promise<boolean> {
  const exec = await db
    .selectFrom('execs')
    .select('id')
    .where('project_id', '=', projectId)
    .limit(1)
    .executeTakeFirst();
  return exec !== undefined;
}
