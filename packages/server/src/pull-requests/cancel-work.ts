import type { BranchUpdate, ThreadRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { changePullRequest } from './change-pull-request.ts';
import { loopAfter } from './loop-state.ts';
import { lockPullRequest } from './store.ts';

/**
 * Ends what goes on with the pull requests of a locked thread that is archived or deleted: review loops and
 * updates from the base. At the provider they stay as they are.
 */
export async function cancelPullRequestWork(tx: Tx, thread: Pick<ThreadRow, 'id'>): Promise<void> {
  const rows = await tx.db
    .selectFrom('pull_requests as p')
    .leftJoin('review_loops as l', 'l.pull_request_id', 'p.id')
    .select('p.id')
    .where('p.thread_id', '=', thread.id)
    .where((q) => q.or([q('l.enabled', '=', true), q('p.branch_update', 'is not', null)]))
    .orderBy('p.id')
    .execute();
  for (const { id } of rows) {
    const loaded = (await lockPullRequest(tx, id))!;
    await changePullRequest(
      tx,
      loaded,
      cancelledUpdate(loaded.row.branch_update),
      loopAfter(loaded.loop?.status ?? null, 'end'),
    );
  }
}

function cancelledUpdate(update: BranchUpdate | null) {
  if (update?.status !== 'running') return {};
  const error = { code: 'cancelled', message: 'The thread was archived or deleted.' };
  return { branch_update: { ...update, status: 'failed' as const, error } };
}
