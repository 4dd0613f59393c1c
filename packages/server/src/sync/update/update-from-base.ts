/**
 * Brings the base into the branch of a pull request. The thread's files are merged with the base's, as an apply
 * merges; with conflicts a repair of the thread's agent goes on, whose end settles the update (repairs.ts).
 *
 *   contained already -----------------------------> done
 *   clean -----------------------------------------> done, and pushed as a merge
 *   conflicts, manual, or beyond an agent ---------> conflicted
 *   conflicts, agent ------------------------------> running, until its run ends
 *   the base is out of reach ----------------------> failed
 *
 * Nothing is held while it merges: where the thread has moved meanwhile, it merges again.
 */
import { sql } from 'kysely';
import { fetchCommit, isAncestor, mergeBase, RepositoryTooLarge } from '../../commits/index.ts';
import { transaction } from '../../db/transaction.ts';
import { changePullRequest } from '../../pull-requests/index.ts';
import { ProviderError } from '../../scm/index.ts';
import { isIdle } from '../../threads/index.ts';
import type { Syncing } from '../syncing.ts';
import { endUpdate, failed, lockUpdate, outOfStep } from './end-update.ts';
import type { UpdateEnd } from './end-update.ts';
import { mergeSources } from './merge-sources.ts';
import { settleEndedRepair } from './repairs.ts';

/** Takes the running update of a pull request as far as it goes now. */
export async function updateFromBase(at: Syncing): Promise<void> {
  if (at.row.update_run_id !== null) return settleEndedRepair(at);
  if (at.row.push_status === 'diverged') return end(at, outOfStep(at.row));
  // What was adopted is taken over first; and the end of what the thread does asks again.
  if (at.row.head_source_id === null || !(await isIdle(at.ctx.db, at.thread))) return;
  try {
    await mergeBaseBranch(at);
  } catch (error) {
    await endUnreached(at, error);
  }
}

async function mergeBaseBranch(at: Syncing): Promise<void> {
  const { ctx, repository, row } = at;
  const baseSha = await fetchCommit(ctx, repository, { branch: row.base_ref });
  await fetchCommit(ctx, repository, { commitSha: row.head_sha });
  const isIn = async (commitSha: string | null) =>
    commitSha !== null && (await isAncestor(ctx, repository, baseSha, commitSha));
  if ((await isIn(row.head_sha)) || (await isIn(row.merge_parent_sha)))
    return end(at, { status: 'done', baseSha });
  if (at.thread.execution_target?.workspaceMode === 'direct')
    return end(
      at,
      failed('conflict', "The folder of the thread's host is never written. Merge the base there."),
    );
  const common = await commonOf(at, baseSha);
  if (common === null)
    return end(at, failed('conflict', 'The base branch and the branch have no commit in common.'));
  await mergeSources(at, { baseSha, common });
}

/** The commit from which the thread's files and the base's have gone apart. */
async function commonOf({ ctx, repository, row }: Syncing, baseSha: string): Promise<string | null> {
  const merged = row.merge_parent_sha;
  return merged !== null && (await isAncestor(ctx, repository, merged, baseSha))
    ? merged
    : mergeBase(ctx, repository, row.head_sha, baseSha);
}

/** After so many seconds a provider that was away is asked again; then the update has failed. */
const RETRY_SECONDS = [5, 30, 120];

/** The base could not be read. Throws what is no fault of the provider or the repository. */
async function endUnreached(at: Syncing, error: unknown): Promise<void> {
  if (error instanceof RepositoryTooLarge)
    return end(at, failed('repository_too_large', `The base branch is too large: ${error.message}`));
  if (!(error instanceof ProviderError)) throw error;
  switch (error.fault.code) {
    case 'not_found':
      return end(at, failed('branch_not_found', 'The base branch is not there.'));
    case 'gone':
      return end(at, failed('repository_gone', 'The repository is gone.'));
    case 'unavailable':
      return delay(at, error);
    default:
      return end(at, failed('access_denied', 'The source control host refuses the credential.'));
  }
}

async function delay(at: Syncing, error: ProviderError): Promise<void> {
  const attempts = at.row.branch_update!.attempts;
  const seconds = RETRY_SECONDS[attempts];
  if (seconds === undefined)
    return end(at, failed('unavailable', 'The source control host was away. Ask for the update again.'));
  at.ctx.log.debug({ err: error, pullRequest: at.row.id }, 'a base branch could not be read yet');
  await transaction(at.ctx, async (tx) => {
    const locked = await lockUpdate(tx, at);
    if (locked)
      await changePullRequest(tx, locked.loaded, {
        branch_update: { ...locked.loaded.row.branch_update!, attempts: attempts + 1 },
        next_look_at: sql<Date>`now() + ${seconds} * interval '1 second'`,
      });
  });
}

async function end(at: Syncing, how: UpdateEnd): Promise<void> {
  await transaction(at.ctx, async (tx) => {
    const locked = await lockUpdate(tx, at);
    if (locked) await endUpdate(tx, locked.loaded, how);
  });
}
