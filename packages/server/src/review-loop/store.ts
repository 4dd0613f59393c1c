/** The only writer of `review_passes` and `review_points`. */
import type { Insertable, Updateable } from 'kysely';
import type { Db } from '../db/database.ts';
import type { ReviewPassesTable, ReviewPassRow, ReviewPointsTable } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';

export async function insertPass(tx: Tx, values: Insertable<ReviewPassesTable>): Promise<ReviewPassRow> {
  return tx.db.insertInto('review_passes').values(values).returningAll().executeTakeFirstOrThrow();
}

/** What a pass is told of. */
export async function insertPoints(tx: Tx, points: Insertable<ReviewPointsTable>[]): Promise<void> {
  if (points.length > 0) await tx.db.insertInto('review_points').values(points).execute();
}

export async function writePass(tx: Tx, id: string, columns: Updateable<ReviewPassesTable>): Promise<void> {
  await tx.db.updateTable('review_passes').set(columns).where('id', '=', id).execute();
}

/** The passes of a loop whose outcome is not dealt with yet, newest first. */
export async function unsettledPasses(db: Db | Tx['db'], loopId: string): Promise<ReviewPassRow[]> {
  return db
    .selectFrom('review_passes')
    .selectAll()
    .where('loop_id', '=', loopId)
    .where('settled_at', 'is', null)
    .orderBy('id', 'desc')
    .execute();
}
