/** Bringing the thread's latest source to its branch, as one commit. */
import { sql } from 'kysely';
import { buildCommit, fetchCommit, pushCommit } from '../commits/index.ts';
import type { PullRequestRow } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import { changePullRequest, pushAfter } from '../pull-requests/index.ts';
import type { LoadedPullRequest, PullRequestChange } from '../pull-requests/index.ts';
import { loadTree } from '../sources/index.ts';
import { lockBoth } from './lock.ts';
import { ENDED, namedIn } from './push-ends.ts';
import { messageOf, nextCommitMessage } from './next-commit.ts';
import type { Syncing } from './syncing.ts';
import { keptAsideOf } from './update/kept-aside.ts';

/** After how many seconds a provider that was away is asked again. */
const RETRY_SECONDS = [5, 30, 120, 300];

/** Changes the locked pull request of this job. */
export async function changeIn(
  { ctx, job, row: { id, thread_id: threadId } }: Syncing,
  change: (loaded: LoadedPullRequest) => PullRequestChange,
): Promise<PullRequestRow> {
  return transaction(ctx, async (tx) => {
    await job.fence(tx);
    const { loaded } = await lockBoth(tx, { threadId, id });
    return (await changePullRequest(tx, loaded, change(loaded))).row;
  });
}

/** Where the branch holds a source: it is at the commit, by a push of ours or as it was. */
export const holding =
  (headSha: string, sourceId: string) =>
  ({ row }: LoadedPullRequest): PullRequestChange => ({
    ...ENDED,
    head_sha: headSha,
    head_source_id: sourceId,
    named_source_id: null,
    merge_parent_sha: headSha === row.head_sha ? row.merge_parent_sha : null,
    push_status: pushAfter(row.push_status, 'finish'),
  });

/** Builds the commit, notes it, pushes it. What dies in between is found again by the note. */
export async function push(at: Syncing): Promise<void> {
  const sourceId = at.thread.latest_source_id!;
  const commitSha = await commitOf(at, sourceId);
  await changeIn(at, () => ({ pushing_sha: commitSha, pushing_source_id: sourceId }));
  const { head_ref: branch, head_sha: expected } = at.row;
  await pushCommit(at.ctx, at.repository, { commitSha, branch, expected });
  await changeIn(at, holding(commitSha, sourceId));
}

async function commitOf(at: Syncing, sourceId: string): Promise<string> {
  const { ctx, repository, row, thread } = at;
  const parents = [row.head_sha, ...(row.merge_parent_sha === null ? [] : [row.merge_parent_sha])];
  for (const commitSha of parents) await fetchCommit(ctx, repository, { commitSha });
  const { created_at: authoredAt } = await ctx.db
    .selectFrom('sources')
    .select('created_at')
    .where('id', '=', sourceId)
    .executeTakeFirstOrThrow();
  return buildCommit(ctx, repository, {
    projectId: row.project_id,
    parents,
    from: await loadTree(ctx, row.head_source_id!),
    to: await loadTree(ctx, sourceId),
    ...(row.merge_parent_sha === null
      ? {}
      : { keptAside: (await keptAsideOf(at, row.merge_parent_sha)).changes }),
    message: await nextCommitMessage(ctx, ctx.db, {
      threadId: thread.id,
      afterSourceId: namedIn(row),
      sourceId,
      subject: await messageOf(ctx.db, thread.id, 'user', 'last'),
    }),
    authoredAt,
  });
}

/** A push that the provider refused: a newer source, or a caller, tries again. One that has ended needs none. */
export const refusedWith =
  (code: string, message: string, sourceId: string | null) =>
  ({ row }: LoadedPullRequest): PullRequestChange =>
    row.state === 'open' && row.transferred_at === null
      ? {
          ...ENDED,
          push_status: pushAfter(pushAfter(row.push_status, 'queue'), 'refuse'),
          push_error: { code, message },
          pushing_source_id: sourceId,
        }
      : {};

/** The provider is away: what is pending is tried again, later each time. */
export const delayed = ({ row }: LoadedPullRequest): PullRequestChange => {
  if (row.push_status !== 'pending') return {};
  const seconds = RETRY_SECONDS[Math.min(row.push_attempts, RETRY_SECONDS.length - 1)]!;
  const retryAt = sql<Date>`now() + ${seconds} * interval '1 second'`;
  return { push_attempts: row.push_attempts + 1, push_retry_at: retryAt, next_look_at: retryAt };
};
