import type { PullRequestRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { enqueueUnlessWaiting } from '../jobs/enqueue.ts';
import { findOpen, findUnmerged } from './store.ts';

/** What works on a pull request's branch: one at a time. */
export const pullRequestKey = (id: string) => `pull-request:${id}`;

/** Adds the job that pushes what the thread has and looks at the provider. */
export const enqueueSync = (
  tx: Tx,
  row: Pick<PullRequestRow, 'id' | 'org_id' | 'project_id'>,
): Promise<void> =>
  enqueueUnlessWaiting(
    tx,
    'pull-request.sync',
    { pullRequestId: row.id },
    { key: pullRequestKey(row.id), turnOf: row },
  );

/** Enqueues the jobs of a repository's pull requests that changed, by their number or their head. */
export async function enqueueSyncs(
  tx: Tx,
  repositoryId: string,
  of: { number: number } | { commitSha: string },
): Promise<void> {
  for (const row of await findUnmerged(tx.db, repositoryId, of)) await enqueueSync(tx, row);
}

/** The latest source of a thread has moved: its open pull request follows. */
export async function followSource(tx: Tx, threadId: string): Promise<void> {
  const open = await findOpen(tx.db, threadId);
  if (open) await enqueueSync(tx, open);
}
