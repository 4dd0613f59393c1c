import { sql } from 'kysely';
import { cancelApply } from '../applies/index.ts';
import { cancelAppBuilds, cancelThreadBuild } from '../builds/index.ts';
import type { ProjectRow, ThreadRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { makeJobsDue } from '../jobs/store.ts';
import { stopAppPreviews, stopThreadPreviews } from '../previews/index.ts';
import { cancelPullRequestWork } from '../pull-requests/index.ts';
import { cancelRuns } from '../runs/index.ts';
import { changeThread, initializationChange, lockThreadById } from '../threads/index.ts';
import type { LoadedThread, ThreadChange } from '../threads/index.ts';
import { changeWorkspace, enqueueArchive } from '../workspaces/index.ts';

/**
 * Ends the work of a locked thread that is archived or deleted: its runs, its queued apply, its build, its
 * previews, and what goes on with its pull requests. Returns the change to the thread's row.
 */
export async function cancelThreadWork(tx: Tx, loaded: LoadedThread): Promise<ThreadChange> {
  const { thread } = loaded;
  const cancelled = await cancelRuns(tx, loaded, 'all');
  await cancelApply(tx, loaded);
  const isBuildOver = await cancelThreadBuild(tx, loaded);
  await stopThreadPreviews(tx, loaded);
  if (loaded.project.repository_id !== null) await cancelPullRequestWork(tx, thread);
  if (thread.workspace_status !== null && thread.workspace_status !== 'archived')
    await enqueueArchive(tx, thread);
  // A job that waits for the app's setup has nothing to wait for, and would hold up what comes after it.
  if (thread.workspace_setup_status === 'running' && thread.setup_id !== null)
    await makeJobsDue(
      tx,
      sql`select id from jobs where key = ${`thread:${thread.id}`} and waits_for is not null`,
    );
  return {
    // Work that is cut off leaves files that are in no source: the next use of the workspace keeps them and
    // resets it to the latest source.
    ...(cancelled.some((run) => run.status !== 'queued') ? { workspace_source_id: null } : {}),
    active_apply_id: null,
    ...(isBuildOver ? { active_build_id: null } : {}),
    ...initializationChange(thread, 'cancel'),
  };
}

/** Cancels the preparation of a workspace with its thread. Its record and event follow the thread's events. */
export async function cancelPreparation(tx: Tx, loaded: LoadedThread): Promise<ThreadRow> {
  if (loaded.thread.workspace_status !== 'preparing') return loaded.thread;
  return changeWorkspace(tx, loaded, { event: 'cancel', reason: 'thread archived or deleted' });
}

/** Ends the work of a project that is being deleted and of all its threads; then deletes and publishes each. */
export async function cancelProjectWork(tx: Tx, project: ProjectRow): Promise<void> {
  const threads = await tx.db
    .selectFrom('threads')
    .select('id')
    .where('project_id', '=', project.id)
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .execute();
  const ended: { loaded: LoadedThread; change: ThreadChange }[] = [];
  for (const { id } of threads) {
    const loaded = await lockThreadById(tx, id, project);
    if (loaded) ended.push({ loaded, change: await cancelThreadWork(tx, loaded) });
  }
  await cancelAppBuilds(tx, project);
  await stopAppPreviews(tx, project);
  for (const { loaded, change } of ended)
    await changeThread(tx, loaded, { ...change, deleted_at: sql<Date>`now()` }, 'asDeleted');
}
