import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
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
 * The pull requests that a change in a repository may concern. In a hosted repository they first follow their branches;
 * then only those that differ from their records are looked at. Otherwise each push would look at a thousand others.
 */
export async function lookAtRepository(
  ctx: Context,
  { payload, enqueuedAt }: Pick<Job<'scm.look-repository'>, 'payload' | 'enqueuedAt'>,
): Promise<number[] | 'all'> {
  const { repositoryId, number, commitSha, branch } = payload;
  if (number !== undefined) return [number];
  if (commitSha !== undefined) return numbersOf(ctx, repositoryId, sql`p.head_sha = ${commitSha}`);
  if (branch !== undefined) return numbersOf(ctx, repositoryId, sql`${branch} in (p.head_ref, p.base_ref)`);
  const repository = await findLocal(ctx, repositoryId);
  if (!repository) return 'all';
  await refreshLocalPullRequests(ctx, repository);
  await maintainSoon(ctx, repository);
  // The repository's settings affect all pull requests.
  return repository.updated_at >= enqueuedAt ? 'all' : numbersOf(ctx, repositoryId, isUnlikeRecord);
}

/** The numbers of open and closed pull requests of threads. */
async function numbersOf(ctx: Context, repositoryId: string, which: RawBuilder<unknown>): Promise<number[]> {
  const { rows } = await sql<{ number: number }>`
    select distinct p.number from pull_requests p
    where p.repository_id = ${repositoryId} and p.state <> 'merged' and ${which}
    order by p.number`.execute(ctx.db);
  return rows.map(({ number }) => number);
}

const isUnlikeRecord = sql`exists (
  select from local_pull_requests l where l.repository_id = p.repository_id and l.number = p.number
    and (l.state, l.draft, l.title, l.body, l.head_sha, l.base_ref, l.mergeable)
      is distinct from (p.state, p.draft, p.title, p.body, p.head_sha, p.base_ref, p.scm_summary->>'mergeable'))`;

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
