/**
 * The only writer of `objects`: every object of the store, from before it is put until it is deleted.
 *
 *   (none) --registerObject--> registered --commitObject--> committed
 *   registered --renewObject--> registered, for the whole time again
 *   registered --discardUncommitted, expireInterrupted--> expired
 *   registered, committed --discardObject, expire…Objects, expireReplaced, expireLeft--> expired
 *   expired --claimExpired--> expired, due again later --the store deletes, forgetObject--> (none)
 *
 * Registered: neither `committed_at` nor `delete_after`. Expired: `delete_after` is set. An expired object
 * is never committed.
 */
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import type { ObjectsTable } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';

/** A stored object of a project, or of a whole organization. */
type StoredObject = Pick<ObjectsTable, 'org_id' | 'project_id' | 'key'>;

/** Rounded down: the column has milliseconds, and a time that is rounded up is not due yet. */
const AT_ONCE = sql<Date>`date_trunc('milliseconds', now())`;

/** Registers an object before it is put: the clean-up then finds what an interruption leaves. */
export async function registerObject(db: Db, object: StoredObject): Promise<void> {
  await db.insertInto('objects').values(object).execute();
}

/** Renews the object's grace period for the transaction that will commit it, unless it is being deleted. */
export async function renewObject(db: Db, key: string): Promise<void> {
  await db
    .updateTable('objects')
    .set({ created_at: sql<Date>`now()` })
    .where('key', '=', key)
    .where('delete_after', 'is', null)
    .execute();
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
  const change = { committed_at: null, delete_after: AT_ONCE };
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

/** The same for objects of a whole organization. */
export async function expireOrganizationObjects(tx: Tx, orgId: string, graceSeconds: number): Promise<void> {
  await tx.db
    .updateTable('objects')
    .set({ delete_after: sql<Date>`now() + ${graceSeconds} * interval '1 second'` })
    .where('org_id', '=', orgId)
    .where('project_id', 'is', null)
    .execute();
}

/**
 * Has the clean-up delete an object now instead of after an hour; harmless when it was committed. Registers
 * it again where the clean-up was here before the put.
 */
export async function discardUncommitted(db: Db, object: StoredObject): Promise<void> {
  await db
    .insertInto('objects')
    .values({ ...object, delete_after: AT_ONCE })
    .onConflict((c) =>
      c.column('key').doUpdateSet({ delete_after: AT_ONCE }).where('objects.committed_at', 'is', null),
    )
    .execute();
}

/** Has the clean-up delete these objects, which no row names any more, once the grace is over. */
export async function expireReplaced(tx: Tx, keys: readonly string[], graceSeconds: number): Promise<void> {
  await tx.db
    .updateTable('objects')
    .set({ delete_after: sql<Date>`now() + ${graceSeconds} * interval '1 second'` })
    .where('key', 'in', keys)
    .execute();
}

/** Has the clean-up delete objects that were registered `ageSeconds` ago and never committed. */
export async function expireInterrupted(db: Db, ageSeconds: number): Promise<void> {
  // A row that a transaction commits meanwhile is locked, and committed when this statement gets to it.
  await sql`
    update objects set delete_after = ${AT_ONCE}
    where committed_at is null and delete_after is null and created_at < now() - ${ageSeconds}::int * interval '1 second'`.execute(
    db,
  );
}

/** Has the clean-up delete what was registered for a project after its deletion. */
export async function expireLeft(db: Db, projectId: string): Promise<void> {
  await db
    .updateTable('objects')
    .set({ delete_after: AT_ONCE })
    .where('project_id', '=', projectId)
    .where('delete_after', 'is', null)
    .execute();
}

/** Has the clean-up delete an object of the store, unless it is registered. */
export async function registerExpired(db: Db, object: StoredObject): Promise<void> {
  await db
    .insertInto('objects')
    .values({ ...object, delete_after: AT_ONCE })
    .onConflict((c) => c.column('key').doNothing())
    .execute();
}

const MAX_BACKOFF_SECONDS = 3600;

/** Objects that are due now, which become due again later, in case their deletion fails. */
export async function claimExpired(db: Db, limit: number): Promise<{ key: string; attempts: number }[]> {
  const { rows } = await sql<{ key: string; attempts: number }>`
    update objects set attempts = attempts + 1, delete_after = now() + least(5 * 2 ^ least(attempts, 20), ${MAX_BACKOFF_SECONDS}) * interval '1 second'
    where key in (select key from objects where delete_after <= now() order by delete_after limit ${limit} for update skip locked) returning key, attempts`.execute(
    db,
  );
  return rows;
}

/** Removes the row of an object that the store has deleted. */
export async function forgetObject(db: Db, key: string): Promise<void> {
  await db.deleteFrom('objects').where('key', '=', key).execute();
}
