import type { Context } from '../context.ts';
import type { PullRequestRow } from '../db/schema.ts';
import type { Job } from '../jobs/job.ts';
import { findPullRequestById } from '../pull-requests/index.ts';
import { openRepository } from '../scm/index.ts';
import { askLater } from './ask-later.ts';
import { issueOf } from './names.ts';

/** Names a pull request on its thread's issue, once: it looks first. */
export async function commentOnIssue(ctx: Context, job: Job<'pull-request.comment'>): Promise<void> {
  const found = await findPullRequestById(ctx.db, job.payload.pullRequestId);
  if (!found) return;
  const { row } = found;
  const asked = { kind: 'pull-request.comment', row } as const;
  await comment(ctx, row).catch((error: unknown) => askLater(ctx, job, asked, error));
}

async function comment(ctx: Context, row: PullRequestRow): Promise<void> {
  const thread = await ctx.db
    .selectFrom('threads')
    .select('tracker_issue_url')
    .where('id', '=', row.thread_id)
    .executeTakeFirstOrThrow();
  const { provider, at } = await openRepository(ctx, row.repository_id);
  const issue = thread.tracker_issue_url && issueOf(thread.tracker_issue_url, at.repository.url);
  if (!issue || (await provider.findComment(at, issue, row.url))) return;
  await provider.commentOnIssue(at, issue, `Pull request: ${row.url}`);
}
