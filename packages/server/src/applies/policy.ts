/** The refusals of an apply and its preview, and the locks under which an apply is decided. */
import type { Static } from 'typebox';
import type { Tx } from '../db/transaction.ts';
import { ApiError } from '../http/errors.ts';
import { requireNoHost } from '../hosts/index.ts';
import { headNotInitialized, requireUnbound } from '../projects/index.ts';
import { loadSource } from '../sources/index.ts';
import type { MergeSides } from '../sources/index.ts';
import { lockThreadById, requireIdle, requireOpen } from '../threads/index.ts';
import type { LoadedThread } from '../threads/index.ts';
import type { PreviewBody } from './schemas.ts';

export type Decision = Static<typeof PreviewBody>;

const staleSource = () =>
  new ApiError(
    'stale_source',
    "This is not the thread's latest source. Read the thread again and decide again.",
  );
const staleHead = () =>
  new ApiError('stale_head', 'The head has moved. Look at the new head and decide again.');

/** Refuses an apply of the thread in its present state; returns the sources to merge. */
export async function requireApplicable(
  tx: Tx,
  { thread, project }: LoadedThread,
  { expectedSourceId, expectedHeadSourceId }: Decision,
): Promise<MergeSides> {
  requireUnbound(project);
  requireNoHost(thread);
  if (expectedSourceId !== thread.latest_source_id) await loadSource(tx.db, project.id, expectedSourceId);
  requireOpen(thread);
  await requireIdle(tx, thread);
  if (expectedSourceId !== thread.latest_source_id) throw staleSource();
  if (project.head_source_id === null) throw headNotInitialized();
  if (expectedHeadSourceId !== undefined && expectedHeadSourceId !== project.head_source_id)
    throw staleHead();
  return {
    projectId: project.id,
    base: thread.source_id,
    head: project.head_source_id,
    draft: expectedSourceId,
  };
}

/** Locks project and thread, in this order; undefined when either was deleted. Checks no permission. */
export async function lockProjectAndThread(
  tx: Tx,
  projectId: string,
  threadId: string,
): Promise<LoadedThread | undefined> {
  // Not FOR UPDATE: a job that holds the thread may wait for the project by a foreign key.
  const project = await tx.db
    .selectFrom('projects')
    .selectAll()
    .where('id', '=', projectId)
    .where('deleted_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst();
  return project && lockThreadById(tx, threadId, project);
}
