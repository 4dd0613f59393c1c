import { sql } from 'kysely';
import { fetchCommit, isAncestor } from '../commits/index.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/database.ts';
import type { PullRequestRow, ThreadRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { ProviderError } from '../scm/index.ts';
import type { OpenRepository } from '../scm/index.ts';
import { isIdle } from '../threads/index.ts';
import type { BranchFacts } from './branch-step.ts';
import type { Syncing } from './syncing.ts';

/** Where a branch is. `sha` is null where it is gone. */
export interface Branch {
  tip: BranchFacts['tip'];
  sha: string | null;
}

/** Where the branch of a pull request is, and how it got there. Its commit is fetched. Throws ProviderError. */
export async function readBranch({ ctx, repository, row, thread }: Syncing): Promise<Branch> {
  const sha = await repository.provider.resolveRef(repository.at, row.head_ref);
  if (sha === null) return { tip: 'gone', sha };
  if (sha === row.head_sha) return { tip: row.head_source_id === null ? 'ahead' : 'same', sha };
  await fetchCommit(ctx, repository, { commitSha: sha });
  const isUpon = async (commitSha: string) =>
    (await isStillThere(ctx, repository, commitSha)) && isAncestor(ctx, repository, commitSha, sha);
  if (row.pushing_sha !== null && (await isUpon(row.pushing_sha))) return { tip: 'arrived', sha };
  // A folder itself is never written: others' commits are a divergence.
  const isWritten = thread.execution_target?.workspaceMode !== 'direct';
  return { tip: isWritten && (await isUpon(row.head_sha)) ? 'ahead' : 'rewritten', sha };
}

/** A commit that a rewritten branch has lost may be gone for good. */
export async function isStillThere(
  ctx: Context,
  repository: OpenRepository,
  commitSha: string,
): Promise<boolean> {
  try {
    await fetchCommit(ctx, repository, { commitSha });
    return true;
  } catch (error) {
    if (error instanceof ProviderError && error.fault.code === 'not_found') return false;
    throw error;
  }
}

/** What the next step depends on, now. */
export async function factsOf(
  db: Db | Tx['db'],
  { thread, row }: { thread: ThreadRow; row: PullRequestRow },
  { tip }: Branch,
): Promise<BranchFacts> {
  return {
    tip,
    push: row.push_status,
    take: row.push_take,
    isIdle: await isIdle(db, thread),
    hasUnpushed: await hasUnpushed(db, thread, row),
  };
}

/**
 * Whether a thread has files, or a merge with its base, that the pull request's commit does not have. Of an
 * adopted branch nothing is known before it was taken over: the thread's own changes are those upon its base.
 */
export async function hasUnpushed(
  db: Db | Tx['db'],
  thread: ThreadRow,
  row: PullRequestRow,
): Promise<boolean> {
  if (row.merge_parent_sha !== null) return true;
  if (thread.latest_source_id === row.head_source_id) return false;
  const held =
    row.head_source_id === null
      ? sql`commit_sha = ${thread.base_commit_sha}`
      : sql`id = ${row.head_source_id}`;
  const { rows } = await sql<{ differs: boolean }>`
    select (select sha256 from sources where project_id = ${row.project_id} and ${held})
      is distinct from (select sha256 from sources where id = ${thread.latest_source_id}) as differs`.execute(
    db,
  );
  return rows[0]!.differs;
}
