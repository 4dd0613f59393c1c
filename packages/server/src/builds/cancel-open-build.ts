import type { ProjectRow } from '../db/schema.ts';
import { appendEvent } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { scopeOf } from '../projects/index.ts';
import type { LoadedThread } from '../threads/index.ts';
import { cancelQueuedBuild, findQueuedWithoutThread, requestCancel } from './store.ts';
import { buildEventData } from './view.ts';

/**
 * Cancels an open build, whose thread or own row is locked: a queued one fails in this transaction; a building
 * one is marked, and fails once its sandbox is gone. Returns whether it has ended.
 */
export async function cancelOpenBuild(
  tx: Tx,
  project: Pick<ProjectRow, 'org_id' | 'id' | 'kind'>,
  buildId: string,
): Promise<boolean> {
  const failed = await cancelQueuedBuild(tx, buildId);
  if (failed) {
    const scope = { ...scopeOf(project), threadId: failed.thread_id };
    appendEvent(tx, scope, 'platform.build.failed', buildEventData(failed));
    return true;
  }
  await requestCancel(tx, buildId);
  tx.wake('control', buildId);
  return false;
}

/** Cancels the build of a locked thread, if it has one under way. Returns whether the thread is free of it now. */
export const cancelThreadBuild = async (tx: Tx, { thread, project }: LoadedThread): Promise<boolean> =>
  thread.active_build_id === null || cancelOpenBuild(tx, project, thread.active_build_id);

/** Cancels the queued builds without a thread of a locked project: none starts meanwhile. */
export async function cancelAppBuilds(tx: Tx, project: ProjectRow): Promise<void> {
  for (const id of await findQueuedWithoutThread(tx, project.id)) await cancelOpenBuild(tx, project, id);
}
