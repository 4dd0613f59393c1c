import { appendEvent } from '../db/transaction.ts';
import type { ApplyRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { scopeOf } from '../projects/index.ts';
import type { LoadedThread } from '../threads/index.ts';
import { deleteCandidate, endOpenApply } from './store.ts';
import type { ApplyEnd } from './store.ts';

/**
 * Ends the queued apply of a locked thread; publishes `platform.apply.<status>`, and returns it as it is then. The caller changes the
 * thread afterwards (`active_apply_id` null).
 */
export async function endApply(
  tx: Tx,
  { thread, project }: LoadedThread,
  applyId: string,
  end: ApplyEnd,
): Promise<ApplyRow | undefined> {
  const row = await endOpenApply(tx, applyId, end);
  if (row)
    appendEvent(tx, { ...scopeOf(project), threadId: thread.id }, `platform.apply.${row.status}`, {
      id: row.id,
      status: row.status,
      sourceId: row.result_source_id,
    });
  return row;
}

/** Fails the queued apply of a locked thread that is being archived or deleted, if it has one. */
export async function cancelApply(tx: Tx, loaded: LoadedThread): Promise<void> {
  const applyId = loaded.thread.active_apply_id;
  if (!applyId) return;
  await deleteCandidate(tx, applyId);
  await endApply(tx, loaded, applyId, {
    event: 'cancel',
    error: 'cancelled: the thread was archived or deleted',
    headSourceId: null,
  });
}
