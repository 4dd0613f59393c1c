import { commitSource, fetchCommit } from '../commits/index.ts';
import type { Context } from '../context.ts';
import type { PullRequestRow } from '../db/schema.ts';
import type { Job } from '../jobs/job.ts';
import { moveBoundHead } from '../projects/index.ts';
import { findPullRequestById } from '../pull-requests/index.ts';
import { openRepository } from '../scm/index.ts';
import { askLater } from './ask-later.ts';

/** After a merge into the default branch of a project its head moves to where the branch is then. */
export async function followBase(ctx: Context, job: Job<'pull-request.follow-base'>): Promise<void> {
  const found = await findPullRequestById(ctx.db, job.payload.pullRequestId);
  if (!found) return;
  const { row } = found;
  const asked = { kind: 'pull-request.follow-base', row, key: headKey(row) } as const;
  await follow(ctx, job, row).catch((error: unknown) => askLater(ctx, job, asked, error));
}

/** What moves the head of a project after merges: one at a time. */
export const headKey = ({ project_id: projectId }: PullRequestRow) => `project-head:${projectId}`;

async function follow(
  ctx: Context,
  job: Job<'pull-request.follow-base'>,
  { project_id: projectId, base_ref: branch, repository_id: repositoryId }: PullRequestRow,
): Promise<void> {
  const project = await ctx.db
    .selectFrom('projects')
    .selectAll()
    .where('id', '=', projectId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (!project || project.default_branch !== branch) return;
  const repository = await openRepository(ctx, repositoryId);
  const commitSha = await fetchCommit(ctx, repository, { branch });
  await commitSource(ctx, project, repository, {
    commitSha,
    branch,
    async also(tx, locked, source) {
      await job.fence(tx);
      await moveBoundHead(tx, locked, { commitSha, sourceId: source.id });
    },
  });
}
