/** The table `checkpoints`. */
import type { Insertable } from 'kysely';
import type { CheckpointsTable } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';

export async function insertCheckpoint(tx: Tx, checkpoint: Insertable<CheckpointsTable>): Promise<void> {
  await tx.db.insertInto('checkpoints').values(checkpoint).execute();
}
