import type { PullRequestRow } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import type { MergeResult } from '../merge/pool.ts';
import { changePullRequest, pushAfter } from '../pull-requests/index.ts';
import {
  abandon,
  findCommitSource,
  insertSource,
  limitsOf,
  mergeRequest,
  stageBlobs,
} from '../sources/index.ts';
import type { SourceRow, Staged } from '../sources/index.ts';
import { lockForStep } from './lock-for-step.ts';
import type { Decided } from './lock-for-step.ts';
import type { Syncing } from './syncing.ts';
import { comparePaths } from '../trees/paths.ts';
import { ENDED, inStep, namedIn, toPush } from './push-ends.ts';
import { moveThread, noteOf, theirSource } from './take-over.ts';

/**
 * Others have committed while the thread has changes that are not pushed: both are merged, as an apply merges.
 * A clean result is the thread's; with conflicts both stay as they are, until a caller decides.
 */
export async function mergeTheirs(at: Decided): Promise<void> {
  const { ctx, thread, row } = at;
  const note = await noteOf(at);
  const theirs = await theirSource(at);
  const merge = await ctx.merger.merge({
    ...mergeRequest(ctx, {
      projectId: row.project_id,
      base: await baseOf(at),
      head: theirs.id,
      draft: thread.latest_source_id!,
    }),
    limits: limitsOf(ctx, row),
  });
  if (merge.status === 'conflicted' || merge.invalid.length > 0)
    return diverge(at, { reason: 'conflict', conflicts: pathsInTheWay(merge) });
  const project = { org_id: row.org_id, id: row.project_id };
  const staged = await stageBlobs(ctx, project, merge.newBlobs);
  const isSettled = await settleMerge(at, { theirs, merge, staged, note });
  if (!isSettled) await abandon(ctx, project, staged);
}

/** Paths in conflict, or that no source can hold; sorted by their bytes. */
export function pathsInTheWay({ conflicts, invalid }: Pick<MergeResult, 'conflicts' | 'invalid'>): string[] {
  const paths = [...conflicts.map(({ path }) => path), ...invalid.flatMap(({ path }) => path ?? [])];
  return [...new Set(paths)].toSorted(comparePaths);
}

/** The source that others began from: that of the commit that was seen last, or of the thread's base. */
async function baseOf({ ctx, row, thread }: Syncing): Promise<string | null> {
  if (row.head_source_id !== null) return row.head_source_id;
  return (await findCommitSource(ctx.db, row.project_id, thread.base_commit_sha!))?.id ?? null;
}

/** The branch and the thread go apart, until a caller decides whose files count. */
export async function diverge(
  at: Decided,
  { reason, conflicts }: { reason: 'rewritten' | 'conflict'; conflicts: string[] },
): Promise<void> {
  await transaction(at.ctx, async (tx) => {
    const locked = await lockForStep(tx, at);
    if (locked)
      await changePullRequest(tx, locked.loaded, {
        ...ENDED,
        push_status: pushAfter(locked.loaded.row.push_status, 'diverge'),
        push_reason: reason,
        push_conflicts: conflicts,
      });
  });
}

interface Merged {
  theirs: SourceRow;
  merge: MergeResult;
  staged: Staged;
  note: string;
}

async function settleMerge(at: Decided, { theirs, merge, staged, note }: Merged): Promise<boolean> {
  return transaction(at.ctx, async (tx) => {
    const locked = await lockForStep(tx, at);
    if (!locked) return false;
    const { thread, loaded } = locked;
    const isTheirs = merge.changes.length === 0;
    const sourceId = isTheirs
      ? theirs.id
      : (
          await insertSource(tx, thread.project, {
            tree: merge.tree,
            parents: [theirs.id, thread.thread.latest_source_id!],
            origin: 'apply',
            threadId: thread.thread.id,
            runId: null,
            message: null,
            staged,
          })
        ).id;
    await moveThread(tx, at.ctx, thread, { sourceId, note });
    const hasMore = !isTheirs || loaded.row.merge_parent_sha !== null;
    await changePullRequest(tx, loaded, {
      ...(hasMore && isPushed(loaded.row) ? toPush(loaded) : inStep(loaded)),
      head_sha: at.branch.sha!,
      head_source_id: theirs.id,
      named_source_id: hasMore ? namedIn(loaded.row) : null,
    });
    return !isTheirs || staged === null;
  });
}

/** Whether what the thread has goes to the branch: always, or as a caller has asked for. */
const isPushed = (row: PullRequestRow): boolean =>
  row.auto_push || row.push_status === 'pending' || row.merge_parent_sha !== null;
