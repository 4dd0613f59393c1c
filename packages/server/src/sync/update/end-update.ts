import { recordCheckpoint } from '../../checkpoints/index.ts';
import type { BranchUpdate, PullRequestRow } from '../../db/schema.ts';
import type { Tx } from '../../db/transaction.ts';
import { changePullRequest } from '../../pull-requests/index.ts';
import type { LoadedPullRequest } from '../../pull-requests/index.ts';
import { insertSource } from '../../sources/index.ts';
import type { Staged } from '../../sources/index.ts';
import { changeThread } from '../../threads/index.ts';
import type { ThreadChange } from '../../threads/index.ts';
import type { Tree } from '../../trees/tree.ts';
import { lockUnchanged } from '../lock-for-step.ts';
import type { Locked } from '../lock-for-step.ts';
import { toPush } from '../push-ends.ts';
import type { Syncing } from '../syncing.ts';

export type UpdateEnd = Pick<BranchUpdate, 'status'> &
  Partial<Pick<BranchUpdate, 'baseSha' | 'conflicts' | 'error'>>;

/**
 * Locks a pull request and its thread for the next step of the update that was read; null where it has ended,
 * or what it merges has changed.
 */
export async function lockUpdate(tx: Tx, at: Syncing): Promise<Locked | null> {
  const locked = await lockUnchanged(tx, at);
  const row = locked?.loaded.row;
  return row?.branch_update?.status === 'running' && row.update_run_id === at.row.update_run_id
    ? locked
    : null;
}

/** Ends the update of a locked pull request, without a change of its branch. */
export async function endUpdate(tx: Tx, loaded: LoadedPullRequest, end: UpdateEnd): Promise<void> {
  const { branch_update: update } = loaded.row;
  await changePullRequest(tx, loaded, {
    branch_update: { ...update!, conflicts: [], error: null, ...end, sides: null },
    update_run_id: null,
  });
}

export const failed = (code: string, message: string): UpdateEnd => ({
  status: 'failed',
  error: { code, message },
});

/** The end of an update whose branch and thread follow each other no more. */
export const outOfStep = (row: PullRequestRow): UpdateEnd =>
  row.push_status === 'diverged'
    ? failed('conflict', 'The branch and the thread have diverged. Decide first whose files count.')
    : failed('pull_request_not_open', 'The pull request is not open any more, or another thread has it.');

interface Merged {
  baseSha: string;
  /** Sources that were merged. */
  parents: [head: string, draft: string];
  tree: Tree;
  staged: Staged;
  /** What else changes of the thread. */
  change?: ThreadChange;
}

/** The merge becomes the thread's latest source, and the next commit of the branch has the base's as a parent. */
export async function settleUpdate(
  tx: Tx,
  { thread: { thread, project }, loaded }: Locked,
  { baseSha, parents, tree, staged, change = {} }: Merged,
): Promise<void> {
  const source = await insertSource(tx, project, {
    tree,
    parents,
    origin: 'apply',
    threadId: thread.id,
    runId: null,
    message: null,
    staged,
  });
  const checkpoint = { sourceId: source.id, kind: 'edit', runId: null, baseCommitSha: baseSha } as const;
  await recordCheckpoint(tx, { thread, project }, checkpoint);
  await changeThread(
    tx,
    { thread, project },
    { latest_source_id: source.id, base_commit_sha: baseSha, last_run_failed: false, ...change },
  );
  await changePullRequest(tx, loaded, {
    ...toPush(loaded),
    branch_update: {
      ...loaded.row.branch_update!,
      status: 'done',
      baseSha,
      conflicts: [],
      error: null,
      sides: null,
    },
    update_run_id: null,
    merge_parent_sha: baseSha,
  });
}
