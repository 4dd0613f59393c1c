import type { Context } from '../../context.ts';
import type { RepositoryRow } from '../../db/schema.ts';
import { transaction } from '../../db/transaction.ts';
import { enqueueUnlessWaiting } from '../../jobs/enqueue.ts';
import type { Job } from '../../jobs/job.ts';
import { maintainRepository, needsMaintenance } from './maintain-repository.ts';
import { refreshLocalPullRequests } from './refresh-pull.ts';
import { openLocalFolder } from './repository-folder.ts';

const findLocal = (ctx: Context, id: string): Promise<RepositoryRow | undefined> =>
  ctx.db
    .selectFrom('repositories')
    .selectAll()
    .where('id', '=', id)
    .where('provider', '=', 'local')
    .where('deleted_at', 'is', null)
    .executeTakeFirst();

/**
 * After a push: pull requests follow their branches, and git's files of the repository are joined later, where
 * they have become many.
 */
export async function lookAtLocalRepository(
  ctx: Context,
  { payload }: Pick<Job<'scm.look-repository'>, 'payload'>,
): Promise<void> {
  const repository = await findLocal(ctx, payload.repositoryId);
  if (!repository) return;
  await refreshLocalPullRequests(ctx, repository);
  if (!(await needsMaintenance(await openLocalFolder(ctx.config, repository)))) return;
  await transaction(ctx, (tx) =>
    enqueueUnlessWaiting(tx, 'scm.maintain-repository', payload, {
      key: `maintain:${repository.id}`,
      turnOf: { org_id: repository.org_id, project_id: repository.id },
    }),
  );
}

export async function maintainLocalRepository(
  ctx: Context,
  { payload, signal }: Pick<Job<'scm.maintain-repository'>, 'payload' | 'signal'>,
): Promise<void> {
  const repository = await findLocal(ctx, payload.repositoryId);
  if (repository) await maintainRepository(await openLocalFolder(ctx.config, repository), signal);
}
