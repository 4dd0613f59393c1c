import { sql } from 'kysely';
import type { ApplyRow } from '../db/schema.ts';
import { json } from '../db/schema.ts';
import { appendEvent } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { scopeOf } from '../projects/index.ts';
import type { LoadedThread } from '../threads/index.ts';

/**
 * Ends a queued apply of a locked thread without moving the head: `conflicted` or `failed`; publishes
 * `platform.apply.<status>`. The caller changes the thread afterwards (`active_apply_id` null).
 * `headSourceId`: the head that it was merged with.
 */
export async function endApply(
  tx: Tx,
  loaded: LoadedThread,
  applyId: string,
  end: {
    status: 'conflicted' | 'failed';
    error: string | null;
    conflicts?: string[];
    headSourceId?: string | null;
  },
): Promise<ApplyRow | undefined> {
  const row = await tx.db
    .updateTable('applies')
    .set({
      status: end.status,
      error: end.error,
      conflicts: json(end.conflicts ?? []),
      finished_at: sql<Date>`now()`,
      result_source_id: null,
      ...(end.headSourceId === undefined ? {} : { head_source_id: end.headSourceId }),
    })
    .where('id', '=', applyId)
    .where('status', '=', 'queued')
    .returningAll()
    .executeTakeFirst();
  if (row)
    appendEvent(
      tx,
      scopeOf(loaded.project),
      `platform.apply.${end.status}`,
      { id: row.id, status: row.status, sourceId: null },
      { threadId: loaded.thread.id },
    );
  return row;
}

/** Forgets what a repair left: it was applied, or is not to be. Its contents stay with the project. */
export async function dropCandidate(tx: Tx, applyId: string): Promise<void> {
  await tx.db.deleteFrom('repair_candidates').where('apply_id', '=', applyId).execute();
}

/** Fails the queued apply of a locked thread, if it has one: its thread is archived or deleted. */
export async function cancelApply(tx: Tx, loaded: LoadedThread): Promise<void> {
  if (!loaded.thread.active_apply_id) return;
  await dropCandidate(tx, loaded.thread.active_apply_id);
  await endApply(tx, loaded, loaded.thread.active_apply_id, {
    status: 'failed',
    error: 'cancelled: the thread was archived or deleted',
  });
}
