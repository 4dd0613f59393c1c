/** The table `checkpoints`. */
import type { Insertable } from 'kysely';
import type { CheckpointRow, CheckpointsTable } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { notFound } from '../http/errors.ts';

export async function insertCheckpoint(tx: Tx, checkpoint: Insertable<CheckpointsTable>): Promise<void> {
  await tx.db.insertInto('checkpoints').values(checkpoint).execute();
}

/** A checkpoint of a thread that the caller may see; 404 for any other id. */
export async function loadCheckpoint(db: Tx['db'], threadId: string, id: string): Promise<CheckpointRow> {
  const checkpoint = await db
    .selectFrom('checkpoints')
    .selectAll()
    .where('thread_id', '=', threadId)
    .where('id', '=', id)
    .executeTakeFirst();
  if (!checkpoint) throw notFound('checkpoint');
  return checkpoint;
}
