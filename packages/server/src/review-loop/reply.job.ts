/**
 * Replies `Addressed in <commit>.` once to each review thread in a pass. The job checks whether the reply exists
 * before it sends it. One job at a time for each pull request.
 */
import type { Context } from '../context.ts';
import type { ReviewPointRow } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import { ApiError } from '../http/errors.ts';
import type { Job } from '../jobs/job.ts';
import { findPullRequestById } from '../pull-requests/index.ts';
import type { LoadedPullRequest } from '../pull-requests/index.ts';
import { openRepository, ProviderError } from '../scm/index.ts';
import type { OpenRepository, ReviewThread } from '../scm/index.ts';
import { askLater } from '../sync/index.ts';
import { replyKey } from './replies.ts';
import { listUnanswered, settlePoint } from './store.ts';

type ReplyJob = Job<'pull-request.reply'>;

export async function replyToPoints(ctx: Context, job: ReplyJob): Promise<void> {
  const found = await findPullRequestById(ctx.db, job.payload.pullRequestId);
  if (!found) return;
  const { row } = found;
  const asked = { kind: 'pull-request.reply', row, key: replyKey(row.id) } as const;
  await replyToAll(ctx, job, found)
    .catch((error: unknown) => askLater(ctx, job, asked, error))
    .catch((error: unknown) => giveUp(ctx, job, error));
}

async function replyToAll(ctx: Context, job: ReplyJob, { row }: LoadedPullRequest): Promise<void> {
  if (!(await nextPoint(ctx, job))) return;
  const repository = await openRepository(ctx, row.repository_id);
  const { provider, at } = repository;
  const threads = (await provider.listReviewThreads(at, row.number))?.threads ?? [];
  for (let point = await nextPoint(ctx, job); point; point = await nextPoint(ctx, job)) {
    job.signal.throwIfAborted();
    const thread = threads.find(({ id }) => id === point.review_thread_id);
    const outcome = thread ? await reply(repository, row.number, thread, point) : 'none';
    await settle(ctx, job, [point], outcome);
  }
}

/** The next point that waits for a reply. A disabled loop or a closed pull request has none. */
async function nextPoint(ctx: Context, job: ReplyJob): Promise<ReviewPointRow | undefined> {
  return transaction(ctx, async (tx) => {
    // A late worker must not repeat the reply of another one.
    await job.fence(tx);
    const found = await findPullRequestById(tx.db, job.payload.pullRequestId);
    if (!found?.loop) return undefined;
    const points = await listUnanswered(tx.db, found.loop.id);
    if (isAnswering(found)) return points[0];
    for (const point of points) await settlePoint(tx, point, 'none');
    return undefined;
  });
}

/** A merge, which may happen first, ends the loop but not its replies. */
const isAnswering = ({ row, loop }: LoadedPullRequest): boolean =>
  loop?.enabled === true || (row.state === 'merged' && loop?.disabled_by === 'system');

async function reply(
  { provider, at }: OpenRepository,
  number: number,
  { id, comments }: ReviewThread,
  { reply_sha: commitSha }: ReviewPointRow,
): Promise<'replied' | 'none'> {
  const body = `Addressed in ${commitSha}.`;
  if (comments.some((one) => one.isOwn && one.body === body)) return 'replied';
  try {
    await provider.replyToThread(at, number, id, body);
    return 'replied';
  } catch (error) {
    if (error instanceof ProviderError && error.fault.code === 'not_found') return 'none';
    throw error;
  }
}

const settle = (ctx: Context, job: ReplyJob, points: ReviewPointRow[], outcome: 'replied' | 'none') =>
  transaction(ctx, async (tx) => {
    await job.fence(tx);
    for (const point of points) await settlePoint(tx, point, outcome);
  });

/** The provider refuses replies, or was unavailable for a day. */
async function giveUp(ctx: Context, job: ReplyJob, error: unknown): Promise<void> {
  if (!(error instanceof ProviderError) && !(error instanceof ApiError)) throw error;
  const { pullRequestId } = job.payload;
  ctx.log.warn({ err: error, pullRequest: pullRequestId }, 'reviews get no reply: the provider refuses it');
  const found = await findPullRequestById(ctx.db, pullRequestId);
  if (found?.loop) await settle(ctx, job, await listUnanswered(ctx.db, found.loop.id), 'none');
}
