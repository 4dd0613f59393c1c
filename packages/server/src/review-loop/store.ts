/** The only writer of `review_passes` and `review_points`. */
import { sql } from 'kysely';
import type { Insertable, Updateable } from 'kysely';
import type { Db } from '../db/database.ts';
import type {
  ReviewLoopRow,
  ReviewPassesTable,
  ReviewPassRow,
  ReviewPointRow,
  ReviewPointsTable,
} from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';

export async function insertPass(tx: Tx, values: Insertable<ReviewPassesTable>): Promise<ReviewPassRow> {
  return tx.db.insertInto('review_passes').values(values).returningAll().executeTakeFirstOrThrow();
}

/** The points of a pass. */
export async function insertPoints(tx: Tx, points: Insertable<ReviewPointsTable>[]): Promise<void> {
  if (points.length > 0) await tx.db.insertInto('review_points').values(points).execute();
}

export async function writePass(tx: Tx, id: string, columns: Updateable<ReviewPassesTable>): Promise<void> {
  await tx.db.updateTable('review_passes').set(columns).where('id', '=', id).execute();
}

/** The unsettled passes of a loop since it was enabled, newest first. */
export async function unsettledPasses(
  db: Db | Tx['db'],
  { id, enabled_at: enabledAt }: Pick<ReviewLoopRow, 'id' | 'enabled_at'>,
): Promise<ReviewPassRow[]> {
  return db
    .selectFrom('review_passes')
    .selectAll()
    .where('loop_id', '=', id)
    .where('loop_enabled_at', '=', enabledAt)
    .where('settled_at', 'is', null)
    .orderBy('id', 'desc')
    .execute();
}

/** Requests replies that name this commit for the points of a pass. Returns their number. */
export async function answerPoints(tx: Tx, passId: string, commitSha: string): Promise<number> {
  const { numUpdatedRows } = await tx.db
    .updateTable('review_points')
    .set({ reply_sha: commitSha })
    .where('pass_id', '=', passId)
    .where('reply_sha', 'is', null)
    .where('replied_at', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}

/** The points of a loop that wait for a reply. */
export const listUnanswered = (db: Db | Tx['db'], loopId: string): Promise<ReviewPointRow[]> =>
  db
    .selectFrom('review_points')
    .selectAll()
    .where('loop_id', '=', loopId)
    .where('reply_sha', 'is not', null)
    .where('replied_at', 'is', null)
    .orderBy('pass_id')
    .orderBy('review_thread_id')
    .execute();

type Point = Pick<ReviewPointRow, 'pass_id' | 'review_thread_id'>;

/** Records that a point's reply was sent, or that it gets none. */
export async function settlePoint(
  tx: Tx,
  { pass_id: passId, review_thread_id: threadId }: Point,
  outcome: 'replied' | 'none',
): Promise<void> {
  await tx.db
    .updateTable('review_points')
    .set(outcome === 'replied' ? { replied_at: sql<Date>`now()` } : { reply_sha: null })
    .where('pass_id', '=', passId)
    .where('review_thread_id', '=', threadId)
    .execute();
}
