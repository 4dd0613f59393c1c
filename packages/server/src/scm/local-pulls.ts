/** Pull requests of the built-in provider for the operations that are about them. */
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { Db } from '../db/database.ts';
import type { LocalPullRequestRow, RepositoryRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { notFound } from '../http/errors.ts';
import type { Call } from '../http/operation.ts';
import type { Principal } from '../http/principal.ts';
import { requireHosted } from './open-repository.ts';
import { loadRepository } from './policy.ts';
import { localPullView } from './view.ts';

const LARGEST = 2_147_483_647;

/** The number that a path names. Throws 404. */
export function numberOf({ number = '' }: Record<string, string>): number {
  const value = /^[1-9]\d{0,9}$/.test(number) ? Number(number) : LARGEST + 1;
  if (value > LARGEST) throw notFound('pull_request');
  return value;
}

/** The repository of the pull request that the path names, which is there. */
export async function requirePull(
  { db }: { db: Db | Tx['db'] },
  { principal, params }: Pick<Call, 'principal' | 'params'>,
): Promise<RepositoryRow> {
  const repository = await loadRepository(db, principal, params.repositoryId!);
  requireHosted(repository);
  const found = await db
    .selectFrom('local_pull_requests')
    .select('number')
    .where('repository_id', '=', repository.id)
    .where('number', '=', numberOf(params))
    .executeTakeFirst();
  if (!found) throw notFound('pull_request');
  return repository;
}

/** Projects whose threads a caller sees; null: all of the organization. */
export type SeenProjects = readonly string[] | null;
export const seenProjects = ({ projectIds }: Principal): SeenProjects => projectIds && [...projectIds];

/** The thread that has a pull request, the one that took it over last; null where the caller does not see it. */
export const threadOf = (seen: SeenProjects) =>
  sql<string | null>`(select p.thread_id from pull_requests p
  where p.repository_id = local_pull_requests.repository_id and p.number = local_pull_requests.number
    and p.transferred_at is null and (${seen === null} or p.project_id = any(${seen ?? []}::text[]))
    order by p.id desc limit 1)`.as('thread_id');

/** A row as the API shows it. */
export async function shownLocalPull(
  { ctx, repository }: { ctx: Context; repository: RepositoryRow },
  row: LocalPullRequestRow,
  seen: SeenProjects,
) {
  const found = await ctx.db
    .selectFrom('local_pull_requests')
    .select(threadOf(seen))
    .where('repository_id', '=', row.repository_id)
    .where('number', '=', row.number)
    .executeTakeFirst();
  return localPullView(ctx, repository, { ...row, thread_id: found?.thread_id ?? null });
}
export type ShownLocalPull = Awaited<ReturnType<typeof shownLocalPull>>;
