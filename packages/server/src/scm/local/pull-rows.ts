/** Rows of the built-in provider's pull requests, and what they look like from outside. */
import type { Db } from '../../db/database.ts';
import type { LocalPullRequestRow } from '../../db/schema.ts';
import type { Tx } from '../../db/transaction.ts';
import { ProviderError } from '../provider.ts';
import type { AtRepository, ProviderPullRequest } from '../provider.ts';
import { localPullUrl } from '../view.ts';

const MAX_NUMBER = 2_147_483_647;

/** Throws `not_found`. */
export async function loadPull(
  db: Db | Tx['db'],
  repositoryId: string,
  number: number,
  lock: 'none' | 'update' = 'none',
): Promise<LocalPullRequestRow> {
  let query = db
    .selectFrom('local_pull_requests')
    .selectAll()
    .where('repository_id', '=', repositoryId)
    .where('number', '=', Number.isSafeInteger(number) && number <= MAX_NUMBER ? number : -1);
  if (lock === 'update') query = query.forUpdate();
  const row = await query.executeTakeFirst();
  if (!row)
    throw new ProviderError({ code: 'not_found', what: 'pull_request' }, 'there is no such pull request');
  return row;
}

/** The number of another open one of the same branches. */
export async function findRival(
  db: Db | Tx['db'],
  pull: Pick<LocalPullRequestRow, 'repository_id' | 'head_ref' | 'base_ref'> & { number?: number },
): Promise<number | undefined> {
  const rival = await db
    .selectFrom('local_pull_requests')
    .select('number')
    .where('repository_id', '=', pull.repository_id)
    .where('head_ref', '=', pull.head_ref)
    .where('base_ref', '=', pull.base_ref)
    .where('state', '=', 'open')
    .executeTakeFirst();
  return rival?.number === pull.number ? undefined : rival?.number;
}

export const shownPull = ({ ctx }: AtRepository, row: LocalPullRequestRow): ProviderPullRequest => ({
  number: row.number,
  url: localPullUrl(ctx, row.repository_id, row.number),
  title: row.title,
  body: row.body,
  state: row.state,
  draft: row.draft,
  headRef: row.head_ref,
  headSha: row.head_sha,
  isOwnHead: true,
  baseRef: row.base_ref,
  mergeable: row.mergeable,
  mergeQueued: false,
  mergeCommitSha: row.merge_commit_sha,
  // One that is merged changes no more.
  mergedAt: row.state === 'merged' ? row.updated_at.toISOString() : null,
  changedAt: null,
});
