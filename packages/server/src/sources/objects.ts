import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import type { ObjectsTable } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';

/** A stored object of a project. */
type StoredObject = Pick<ObjectsTable, 'org_id' | 'project_id' | 'key'>;

/** Registers an object before it is put, so that the clean-up finds what an interruption leaves. */
export async function registerObject(db: Db, object: StoredObject): Promise<void> {
  await db.insertInto('objects').values(object).execute();
}

/** Keeps a registered object, which the caller's transaction names. False when it is being deleted. */
export async function commitObject(tx: Tx, key: string): Promise<boolean> {
  const kept = await tx.db
    .updateTable('objects')
    .set({ committed_at: sql<Date>`now()` })
    .where('key', '=', key)
    .where('delete_after', 'is', null)
    .returning('key')
    .executeTakeFirst();
  return kept !== undefined;
}

/**
 * Has the clean-up delete an object that no row will name. Registers it again where the clean-up was here
 * before the put.
 */
export async function discardObject(db: Db | Tx['db'], object: StoredObject): Promise<void> {
  const change = { committed_at: null, delete_after: sql<Date>`now()` };
  await db
    .insertInto('objects')
    .values({ ...object, ...change })
    .onConflict((c) => c.column('key').doUpdateSet(change))
    .execute();
}

/** Has the clean-up delete a project's stored objects once the grace is over. */
export async function expireObjects(tx: Tx, projectId: string, graceSeconds: number): Promise<void> {
  await tx.db
    .updateTable('objects')
    .set({ delete_after: sql<Date>`now() + ${graceSeconds} * interval '1 second'` })
    .where('project_id', '=', projectId)
    .execute();
}
