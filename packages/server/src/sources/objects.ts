import { sql } from 'kysely';
import type { Tx } from '../db/transaction.ts';

/** Has the clean-up delete a project's stored objects once the grace is over. */
export async function expireObjects(tx: Tx, projectId: string, graceSeconds: number): Promise<void> {
  await tx.db
    .updateTable('objects')
    .set({ delete_after: sql<Date>`now() + ${graceSeconds} * interval '1 second'` })
    .where('project_id', '=', projectId)
    .execute();
}
