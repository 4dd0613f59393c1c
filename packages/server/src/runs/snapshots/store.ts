/** The only writer of `run_snapshots`. */
import type { Insertable } from 'kysely';
import type { Db } from '../../db/database.ts';
import type { Database } from '../../db/schema.ts';
import type { Tx } from '../../db/transaction.ts';

type NewSnapshot = Omit<Insertable<Database['run_snapshots']>, 'created_at'>;

/** Stores a run's snapshot in place of the one before. Returns the key of that one's object, if it had one. */
export async function replaceSnapshot(tx: Tx, snapshot: NewSnapshot): Promise<string | null> {
  const before = await removeSnapshot(tx, snapshot.run_id);
  await tx.db.insertInto('run_snapshots').values(snapshot).execute();
  return before;
}

/** Returns the key of its object, if it had one. */
export async function removeSnapshot(tx: Tx, runId: string): Promise<string | null> {
  const removed = await tx.db
    .deleteFrom('run_snapshots')
    .where('run_id', '=', runId)
    .returning('object_key')
    .executeTakeFirst();
  return removed?.object_key ?? null;
}

/** With the work that its thread had kept of a lost run before it. */
export async function findSnapshot(db: Db, runId: string) {
  return db
    .selectFrom('run_snapshots as s')
    .innerJoin('runs as r', 'r.id', 's.run_id')
    .innerJoin('threads as t', 't.id', 'r.thread_id')
    .selectAll('s')
    .select('t.lost_work_source_id')
    .where('s.run_id', '=', runId)
    .executeTakeFirst();
}
