import { sql } from 'kysely';
import { appendEvent } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { scopeOf } from '../projects/index.ts';
import type { LoadedThread } from '../threads/index.ts';
import { BUILD_COLUMNS, buildEventData } from './view.ts';

/**
 * Cancels the build of a locked thread, if it has one under way: a queued one fails in this transaction; a
 * building one is marked, and fails by its own row once its sandbox is gone. Returns whether the thread is
 * free of it now.
 */
export async function cancelThreadBuild(tx: Tx, { thread, project }: LoadedThread): Promise<boolean> {
  if (!thread.active_build_id) return true;
  const failed = await tx.db
    .updateTable('builds')
    .set({
      status: 'failed',
      error_code: 'cancelled',
      error_message: 'The build was cancelled before it started.',
      finished_at: sql<Date>`now()`,
    })
    .where('id', '=', thread.active_build_id)
    .where('status', '=', 'queued')
    .returning(BUILD_COLUMNS)
    .executeTakeFirst();
  if (failed) {
    appendEvent(tx, scopeOf(project), 'platform.build.failed', buildEventData(failed), {
      threadId: thread.id,
    });
    return true;
  }
  await tx.db
    .updateTable('builds')
    .set({ cancel_requested_at: sql<Date>`coalesce(cancel_requested_at, now())` })
    .where('id', '=', thread.active_build_id)
    .where('status', '=', 'building')
    .execute();
  tx.wake('control', thread.active_build_id);
  return false;
}
