import { appendEvent } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { scopeOf } from '../projects/index.ts';
import type { LoadedThread } from '../threads/index.ts';
import { cancelQueuedBuild, requestCancel } from './store.ts';
import { buildEventData } from './view.ts';

/**
 * Cancels the build of a locked thread, if it has one under way: a queued one fails in this transaction; a
 * building one is marked, and fails once its sandbox is gone. Returns whether the thread is free of it now.
 */
export async function cancelThreadBuild(tx: Tx, { thread, project }: LoadedThread): Promise<boolean> {
  const buildId = thread.active_build_id;
  if (!buildId) return true;
  const failed = await cancelQueuedBuild(tx, buildId);
  if (failed) {
    appendEvent(
      tx,
      { ...scopeOf(project), threadId: thread.id },
      'platform.build.failed',
      buildEventData(failed),
    );
    return true;
  }
  await requestCancel(tx, buildId);
  tx.wake('control', buildId);
  return false;
}
