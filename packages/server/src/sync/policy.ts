/**
 * Loading a pull request = being allowed to see its thread. While a write with an effect at the provider is
 * under way for a pull request of a thread, further ones are refused.
 */
import type { Db } from '../db/database.ts';
import type { ThreadRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { ApiError, notFound, threadBusy } from '../http/errors.ts';
import { isId } from '../ids.ts';
import { findPullRequest, lockPullRequest } from '../pull-requests/index.ts';
import type { LoadedPullRequest } from '../pull-requests/index.ts';
import { isUnderWay } from '../receipts/store.ts';
import { holdPullRequests, loadThread, lockThread } from '../threads/index.ts';
import type { LoadedThread } from '../threads/index.ts';

type Asked = Parameters<typeof loadThread>[1];

export async function loadPullRequest(db: Db, call: Asked): Promise<LoadedPullRequest> {
  const { thread } = await loadThread(db, call);
  const found = await findPullRequest(db, thread.id, call.params.pullRequestId!);
  if (!found) throw notFound('pull_request');
  return found;
}

/** Locks the pull request that the path names, with its thread. */
export async function lockAsked(
  tx: Tx,
  call: Asked,
): Promise<{ thread: LoadedThread; loaded: LoadedPullRequest }> {
  const thread = await lockThread(tx, call);
  const loaded = await lockPullRequest(tx, call.params.pullRequestId!);
  if (!loaded || loaded.row.thread_id !== thread.thread.id) throw notFound('pull_request');
  return { thread, loaded };
}

/**
 * Makes an operation, or an execution, the only one that changes pull requests of a locked thread: until its receipt
 * is settled, or until it has ended. Throws `thread_busy` while another one is under way.
 */
export async function hold(tx: Tx, thread: ThreadRow, heldBy: string): Promise<void> {
  if (await isHeld(tx, thread)) throw threadBusy('pull_request');
  await holdPullRequests(tx, thread.id, heldBy);
}

/** Whether an operation, or an execution, is changing pull requests of a locked thread. */
export const isHeld = async (tx: Tx, { pull_request_operation_id: heldBy }: ThreadRow): Promise<boolean> =>
  heldBy !== null && (isId('exe', heldBy) ? isExecuting(tx, heldBy) : isUnderWay(tx.db, heldBy));

async function isExecuting(tx: Tx, executionId: string): Promise<boolean> {
  const open = await tx.db
    .selectFrom('executions')
    .select('id')
    .where('id', '=', executionId)
    .where('status', '=', 'running')
    .executeTakeFirst();
  return open !== undefined;
}

export const notOpen = () => new ApiError('pull_request_not_open', 'The pull request is not open.');

export const isOthers = () =>
  new ApiError('conflict', 'Another thread has taken over the pull request. Use it there.');

export const anotherIsOpen = (pullRequestId: string) =>
  new ApiError(
    'pull_request_exists',
    'The thread already has an open pull request. Close or merge that one first.',
    {
      details: { pullRequestId },
    },
  );
