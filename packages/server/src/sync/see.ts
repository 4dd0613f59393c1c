import { sql } from 'kysely';
import { audit, serviceOf } from '../audit/index.ts';
import type { Tx } from '../db/transaction.ts';
import { enqueue } from '../jobs/enqueue.ts';
import { changePullRequest, EVENT_OF, findOpen, stateAfter } from '../pull-requests/index.ts';
import type { LoadedPullRequest, PullRequestChange } from '../pull-requests/index.ts';
import { cancelRuns } from '../runs/index.ts';
import type { ProviderPullRequest } from '../scm/index.ts';
import { changeThread } from '../threads/index.ts';
import { headKey } from './follow-base.job.ts';
import type { Locked } from './lock.ts';

/** When a look at an open one follows even if the job for the next one is lost with all its attempts. */
export const lookAnyway = sql<Date>`now() + interval '300 seconds'`;

/**
 * Writes down what the provider says of a locked pull request of a locked thread, with a further change of
 * it. A merge, by whom ever, seals the thread: its queued runs are cancelled, an active one ends as it does.
 */
export async function see(
  tx: Tx,
  { thread, loaded }: Locked,
  pull: ProviderPullRequest,
  change: PullRequestChange = {},
): Promise<LoadedPullRequest> {
  const state = await stateOf(tx, loaded, pull);
  const isMerged = state === 'merged' && loaded.row.state !== 'merged';
  const isOwn = loaded.row.transferred_at === null;
  if (isMerged && isOwn && thread) await cancelRuns(tx, thread, 'queued');
  const seen = await changePullRequest(tx, loaded, {
    url: pull.url,
    title: pull.title,
    body: pull.body,
    draft: pull.draft,
    base_ref: pull.baseRef,
    state,
    // The commit that the thread's own has moves by pushes, and as others' commits are taken over: a closed
    // one may be opened again.
    ...(state !== 'merged' && isOwn ? {} : { head_sha: pull.headSha }),
    ...(isMerged
      ? {
          merge_commit_sha: pull.mergeCommitSha,
          merged_at: pull.mergedAt === null ? new Date() : new Date(pull.mergedAt),
        }
      : {}),
    ...(loaded.row.next_look_at === null ? { next_look_at: lookAnyway } : {}),
    ...change,
    ...(state === 'open' ? {} : { next_look_at: null }),
  });
  if (!isMerged) return seen;
  if (isMergedByLoop(loaded, pull))
    await audit(tx, serviceOf(seen.row.org_id), 'pull_request.merged', seen.row.id);
  if (isOwn && thread && !thread.thread.sealed_at)
    await changeThread(tx, thread, { sealed_at: sql<Date>`now()` }, 'always');
  await enqueue(
    tx,
    'pull-request.follow-base',
    { pullRequestId: seen.row.id },
    { key: headKey(seen.row), turnOf: seen.row },
  );
  return seen;
}

/** Whether the pull request's review loop requested the merge that the provider shows. */
export const isMergedByLoop = ({ loop }: LoadedPullRequest, { headSha }: ProviderPullRequest): boolean =>
  loop?.merging_sha === headSha;

/** A thread has one open pull request: one that is opened again beside it stays closed here. */
async function stateOf(tx: Tx, { row }: LoadedPullRequest, { state }: ProviderPullRequest) {
  const after = stateAfter(row.state, EVENT_OF[state]);
  if (after !== 'open' || row.state === 'open' || row.transferred_at !== null) return after;
  return (await findOpen(tx.db, row.thread_id)) ? row.state : after;
}
