import type { ProjectRow, PullRequestRow, ThreadRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { lockPullRequest } from '../pull-requests/index.ts';
import type { LoadedPullRequest } from '../pull-requests/index.ts';
import { lockThreadById } from '../threads/index.ts';
import type { LoadedThread } from '../threads/index.ts';
import { factsOf } from './branch-facts.ts';
import type { Branch } from './branch-facts.ts';
import { branchStep } from './branch-step.ts';
import type { BranchStep } from './branch-step.ts';
import type { Syncing } from './syncing.ts';

/** A step that was decided, by what was read. */
export interface Decided extends Syncing {
  branch: Branch;
  step: BranchStep;
}

/** Whether a pull request, its thread and its branch follow each other; of any other one only the provider is read. */
export const isFollowed = (thread: ThreadRow, row: PullRequestRow): boolean =>
  row.state === 'open' &&
  row.transferred_at === null &&
  thread.archived_at === null &&
  thread.sealed_at === null;

/** What has to be as it was read, so that what was made of it fits. */
const FIXED = [
  'head_sha',
  'head_source_id',
  'pushing_sha',
  'merge_parent_sha',
] as const satisfies (keyof PullRequestRow)[];

export interface Locked {
  thread: LoadedThread;
  loaded: LoadedPullRequest;
}

/**
 * Locks a pull request and its thread for the end of what was made of them as they were read. Null where a
 * person, a run or a commit was faster: it is decided again. `project`: its row, where the caller has locked it.
 */
export async function lockUnchanged(
  tx: Tx,
  { job, thread: before, row }: Syncing,
  project?: ProjectRow,
): Promise<Locked | null> {
  await job.fence(tx);
  const thread = await lockThreadById(tx, before.id, project);
  const loaded = await lockPullRequest(tx, row.id);
  if (!thread || !loaded || !isFollowed(thread.thread, loaded.row)) return null;
  const isSame =
    thread.thread.latest_source_id === before.latest_source_id &&
    FIXED.every((name) => loaded.row[name] === row[name]);
  return isSame ? { thread, loaded } : null;
}

/** The same for the end of a step, which is still the next one. */
export async function lockForStep(tx: Tx, at: Decided, project?: ProjectRow): Promise<Locked | null> {
  const locked = await lockUnchanged(tx, at, project);
  if (!locked) return null;
  const facts = await factsOf(tx.db, { thread: locked.thread.thread, row: locked.loaded.row }, at.branch);
  return branchStep(facts) === at.step ? locked : null;
}
