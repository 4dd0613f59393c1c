/** The only writer of `execs`. Rows of deleted projects are removed by sources/cleanup.ts. */
import { sql } from 'kysely';
import type { InsertObject } from 'kysely';
import type { Db } from '../db/database.ts';
import type { Database, ExecRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { isEnded, statusesBefore } from './state.ts';
import type { NextStatus } from './state.ts';

/** Commands that have not ended. */
const openExecs = sql<boolean>`status in ('queued', 'running')`;

export async function insertExec(tx: Tx, values: InsertObject<Database, 'execs'>): Promise<void> {
  await tx.db.insertInto('execs').values(values).execute();
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

/** Moves a command on; changes nothing where its status does not lead there. */
export async function changeExec(tx: Tx, execId: string, to: NextStatus): Promise<void> {
  await tx.db
    .updateTable('execs')
    .set({ status: to, ...(isEnded(to) ? { stdin: null } : {}) })
    .where('id', '=', execId)
    .where('status', 'in', statusesBefore(to))
    .execute();
}
