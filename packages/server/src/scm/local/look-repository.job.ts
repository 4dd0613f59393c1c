import { sql } from 'kysely';
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

/** What another look has noted of a push before the push itself asked for one. */
const EARLIER_MS = 30_000;

/**
 * Which pull requests something may have moved at. In a repository of ours they follow their branches first,
 * and it is those that changed: each push would have a thousand others looked at.
 */
export async function lookAtRepository(
  ctx: Context,
  { payload, enqueuedAt }: Pick<Job<'scm.look-repository'>, 'payload' | 'enqueuedAt'>,
): Promise<number[] | 'all'> {
  if (payload.number !== undefined) return [payload.number];
  const repository = await findLocal(ctx, payload.repositoryId);
  if (!repository) return 'all';
  await refreshLocalPullRequests(ctx, repository);
  await maintainSoon(ctx, repository);
  return changedSince(ctx, repository, enqueuedAt);
}

async function changedSince(ctx: Context, { id }: RepositoryRow, time: Date): Promise<number[] | 'all'> {
  const since = new Date(time.getTime() - EARLIER_MS);
  const { rows } = await sql<{ number: number | null }>`
    select null::bigint as number from repositories where id = ${id} and updated_at >= ${since}
    union all
    select p.number from local_pull_requests p where p.repository_id = ${id} and (p.updated_at >= ${since} or exists (
      select from commit_statuses s where s.repository_id = p.repository_id and s.commit_sha = p.head_sha and s.created_at >= ${since}))`.execute(
    ctx.db,
  );
  const numbers = rows.map(({ number }) => number).filter((number) => number !== null);
  return numbers.length === rows.length ? numbers : 'all';
}

/** git's files of the repository are joined later, where they have become many. */
async function maintainSoon(ctx: Context, repository: RepositoryRow): Promise<void> {
  if (!(await needsMaintenance(await openLocalFolder(ctx.config, repository)))) return;
  await transaction(ctx, (tx) =>
    enqueueUnlessWaiting(
      tx,
      'scm.maintain-repository',
      { repositoryId: repository.id },
      {
        key: `maintain:${repository.id}`,
        turnOf: { org_id: repository.org_id, project_id: repository.id },
      },
    ),
  );
}

export async function maintainLocalRepository(
  ctx: Context,
  { payload, signal }: Pick<Job<'scm.maintain-repository'>, 'payload' | 'signal'>,
): Promise<void> {
  const repository = await findLocal(ctx, payload.repositoryId);
  if (repository) await maintainRepository(await openLocalFolder(ctx.config, repository), signal);
}
