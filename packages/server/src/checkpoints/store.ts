/** The table `checkpoints`. */
import { sql } from 'kysely';
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

/** The commit that a thread's change was based on at one of its sources; null: not known. */
export async function baseAtSource(
  db: Tx['db'],
  threadId: string,
  sourceId: string | null,
): Promise<string | null> {
  const { rows } = await sql<{ base: string | null }>`
    select coalesce((
      select base_commit_sha from checkpoints where thread_id = ${threadId} and source_id = s.id order by id desc limit 1
    ), s.commit_sha) as base from sources s where s.id = ${sourceId}`.execute(db);
  return rows[0]?.base ?? null;
}
