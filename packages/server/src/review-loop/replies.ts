/** When the points of a pass get their replies. reply.job.ts sends them. */
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { PullRequestRow } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { enqueueUnlessWaiting } from '../jobs/enqueue.ts';
import { every } from '../jobs/every.ts';
import type { When } from '../jobs/every.ts';
import { answerPoints } from './store.ts';

type Answered = Pick<PullRequestRow, 'id' | 'org_id' | 'project_id' | 'head_sha'>;

/** How often replies without a job are found, after a job has failed in all attempts. */
const RECONCILE_MS = 60_000;
const BATCH = 100;

/** One job at a time replies to the threads of one pull request. */
export const replyKey = (pullRequestId: string) => `reply:${pullRequestId}`;

/** Requests a reply to each point of a pass whose change is on the branch, at `head_sha`. */
export async function settleReplies(tx: Tx, passId: string, row: Answered): Promise<void> {
  if ((await answerPoints(tx, passId, row.head_sha)) > 0) await enqueueReplies(tx, row);
}

const enqueueReplies = (tx: Tx, row: Omit<Answered, 'head_sha'>): Promise<void> =>
  enqueueUnlessWaiting(
    tx,
    'pull-request.reply',
    { pullRequestId: row.id },
    { key: replyKey(row.id), turnOf: row },
  );

/** Enqueues due replies that have no job. Safe to run in every process at once. */
export function reconcileReplies(ctx: Context, when: When): void {
  every(RECONCILE_MS, () => enqueueForgotten(ctx), {
    when,
    until: ctx.shutdown,
    onFailure: (err) => ctx.log.debug({ err }, 'replies to reviews could not be read'),
  });
}

async function enqueueForgotten(ctx: Context): Promise<void> {
  const rows = await ctx.db
    .selectFrom('pull_requests as p')
    .innerJoin('review_loops as l', 'l.pull_request_id', 'p.id')
    .select(['p.id', 'p.org_id', 'p.project_id'])
    .where('l.id', 'in', (q) =>
      q
        .selectFrom('review_points')
        .select('loop_id')
        .where('reply_sha', 'is not', null)
        .where('replied_at', 'is', null),
    )
    .where(
      sql<boolean>`not exists (select from jobs j where j.key = 'reply:' || p.id and j.status in ('queued', 'active'))`,
    )
    .limit(BATCH)
    .execute();
  for (const row of rows) await transaction(ctx, (tx) => enqueueReplies(tx, row));
}
