/**
 * The job that keeps a pull request in sync with its thread: it pushes what is newer, then looks at the
 * provider. One at a time for each pull request. It reads everything again, so that what finds that something
 * may have moved only has to enqueue it; polls find what was forgotten.
 */
import { sql } from 'kysely';
import { PushError, RepositoryTooLarge } from '../commits/index.ts';
import type { Context } from '../context.ts';
import type { PullRequestRow, ThreadRow } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { mayBegin } from '../http/capabilities.ts';
import { ApiError } from '../http/errors.ts';
import type { Job } from '../jobs/job.ts';
import { changePullRequest, findPullRequestById, loopAfterFault, pushAfter } from '../pull-requests/index.ts';
import { openRepository, ProviderError } from '../scm/index.ts';
import type { OpenRepository } from '../scm/index.ts';
import { factsOf, readBranch } from './branch-facts.ts';
import { branchStep } from './branch-step.ts';
import { lockBoth } from './lock.ts';
import { isFollowed } from './lock-for-step.ts';
import type { Decided } from './lock-for-step.ts';
import { look } from './look.ts';
import { changeIn, delayed, holding, push, refusedWith } from './push.ts';
import { diverge, mergeTheirs } from './merge-theirs.ts';
import type { LoopDriver, Syncing } from './syncing.ts';
import { takeOver, takeThread } from './take-over.ts';
import { endUpdate, failed } from './update/end-update.ts';
import { updateFromBase } from './update/update-from-base.ts';

type SyncJob = Job<'pull-request.sync'>;

/** Steps of one job; where that is not enough, a later job goes on. */
const MAX_STEPS = 8;
/** The next look after one that failed. */
const AWAY_SECONDS = 60;
const REFUSED_SECONDS = 600;

export async function syncPullRequest(ctx: Context, job: SyncJob, driveLoop: LoopDriver): Promise<void> {
  const found = await findPullRequestById(ctx.db, job.payload.pullRequestId);
  if (!found) return;
  const { row, loop } = found;
  const may = await mayBegin(ctx, row.org_id, 'sourceControl');
  // Work in progress still ends as usual.
  if (!may && !hasWork(row) && loop?.status !== 'fixing') return;
  try {
    const repository = await openRepository(ctx, row.repository_id);
    await keepInStep(ctx, job, repository, { isMoved: false });
    let sight = await look(ctx, job, repository);
    if (sight.isMoved) {
      await keepInStep(ctx, job, repository, { isMoved: true });
      sight = await look(ctx, job, repository);
    }
    if (sight.looked) await driveLoop(sight.looked, { mayBegin: may });
  } catch (error) {
    await endSync(ctx, job, error);
  }
}

/** Brings branch and thread together, one step after the other. */
async function keepInStep(
  ctx: Context,
  job: SyncJob,
  repository: OpenRepository,
  { isMoved }: { isMoved: boolean },
): Promise<void> {
  for (let n = 0; n < MAX_STEPS; n++) {
    const at = await begin(ctx, job, repository);
    if (!at || (!hasWork(at.row) && !(isMoved && n === 0))) return;
    const branch = await readBranch(at);
    const step = branchStep(await factsOf(ctx.db, at, branch));
    if ((await act({ ...at, branch, step })) === 'further') continue;
    if (isUpdating(at.row)) await updateFromBase(at);
    return;
  }
}

/** The pull request and its thread, where anything may be brought in sync now. */
async function begin(ctx: Context, job: SyncJob, repository: OpenRepository): Promise<Syncing | null> {
  return transaction(ctx, async (tx) => {
    await job.fence(tx);
    const { pullRequestId: id } = job.payload;
    const found = await findPullRequestById(tx.db, id);
    if (!found) return null;
    const { thread, loaded } = await lockBoth(tx, { threadId: found.row.thread_id, id });
    if (!thread || !(await mayMove(tx, thread.thread, loaded.row))) return null;
    const isQueued = loaded.row.auto_push && isNewer(thread.thread, loaded.row);
    const change = isQueued ? { push_status: pushAfter(loaded.row.push_status, 'queue') } : {};
    const { row } = await changePullRequest(tx, loaded, change);
    return { ctx, job, repository, row, thread: thread.thread };
  });
}

/** Whether it is an open pull request that a live thread still has, and no retry is waited for. */
async function mayMove(tx: Tx, thread: ThreadRow, row: PullRequestRow): Promise<boolean> {
  if (!isFollowed(thread, row)) return false;
  if (!row.push_retry_at) return true;
  const { rows } = await sql<{ due: boolean }>`select now() >= ${row.push_retry_at} as due`.execute(tx.db);
  return rows[0]!.due;
}

/** Whether the thread has a source that its branch does not, other than one that was refused. */
const isNewer = (thread: ThreadRow, row: PullRequestRow): boolean =>
  row.head_source_id !== null &&
  thread.latest_source_id !== row.head_source_id &&
  !(row.push_status === 'failed' && thread.latest_source_id === row.pushing_source_id);

const isUpdating = (row: PullRequestRow): boolean => row.branch_update?.status === 'running';

const hasWork = (row: PullRequestRow): boolean =>
  row.push_status === 'pending' ||
  row.pushing_sha !== null ||
  row.push_take !== null ||
  // Adopted, and not taken over yet.
  row.head_source_id === null ||
  isUpdating(row);

/** Takes a step; `over` where no further one follows now. */
async function act(at: Decided): Promise<'over' | 'further'> {
  const { row, thread } = at;
  switch (at.step) {
    case 'record':
      await changeIn(at, holding(row.pushing_sha!, row.pushing_source_id!));
      return 'further';
    case 'settle':
      await changeIn(at, holding(row.head_sha, thread.latest_source_id!));
      return 'further';
    case 'push':
      await push(at).catch((error: unknown) => refused(at, error));
      return 'further';
    case 'fail':
      await changeIn(at, refusedWith('branch_gone', 'The branch is gone.', thread.latest_source_id));
      return 'over';
    case 'takeOver':
    case 'takeBranch':
      await takeOver(at).catch((error: unknown) => tooLarge(at, error));
      return 'further';
    case 'takeThread':
      await takeThread(at).catch((error: unknown) => tooLarge(at, error));
      return 'further';
    case 'merge':
      await mergeTheirs(at).catch((error: unknown) => tooLarge(at, error));
      return 'further';
    case 'diverge':
      await diverge(at, { reason: 'rewritten', conflicts: [] });
      return 'further';
    case 'wait':
    case 'rest':
      return 'over';
  }
}

/** A refusal is written down; where the branch has moved meanwhile, the next step sees it. */
async function refused(at: Syncing, error: unknown): Promise<void> {
  if (!(error instanceof PushError) || error.code === 'unavailable') throw error;
  if (error.code === 'moved') return;
  await changeIn(at, refusedWith(error.code, error.message, at.thread.latest_source_id));
}

/** What no source can hold is not taken over. */
async function tooLarge(at: Syncing, error: unknown): Promise<void> {
  if (!(error instanceof RepositoryTooLarge)) throw error;
  await changeIn(at, refusedWith('repository_too_large', error.message, at.thread.latest_source_id));
}

const DENIED = 'The source control host refuses the credential, or no installation is left.';
const GONE = 'The repository is gone.';
/** The faults as a review loop reports them. */
const LOOP_FAULTS = {
  away: { code: 'unavailable', message: 'The source control host does not answer.' },
  denied: { code: 'access_denied', message: DENIED },
  gone: { code: 'repository_gone', message: GONE },
} as const;

/** What the provider's fault means; null for a fault of our own. */
function faultOf(error: unknown): 'away' | 'denied' | 'gone' | null {
  if (error instanceof PushError) return 'away';
  const code =
    error instanceof ProviderError ? error.fault.code : error instanceof ApiError ? error.code : '';
  if (code === 'unavailable') return 'away';
  if (code === 'access_denied' || code === 'scm_access_denied') return 'denied';
  return code === 'gone' || code === 'not_found' || code === 'scm_repository_gone' ? 'gone' : null;
}

/** The provider could not be asked: what is pending is tried again or has failed, and a look follows. */
async function endSync(ctx: Context, job: SyncJob, error: unknown): Promise<void> {
  const fault = faultOf(error);
  if (fault === null) throw error;
  ctx.log.debug(
    { err: error, pullRequest: job.payload.pullRequestId },
    'a pull request could not be synchronized',
  );
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    const { pullRequestId: id } = job.payload;
    const found = await findPullRequestById(tx.db, id);
    if (!found) return;
    const { thread, loaded } = await lockBoth(tx, { threadId: found.row.thread_id, id });
    const isPending = loaded.row.push_status === 'pending';
    const latest = thread?.thread.latest_source_id ?? null;
    const refusal =
      fault === 'gone'
        ? refusedWith('branch_gone', GONE, latest)
        : refusedWith('access_denied', DENIED, latest);
    const change = !isPending ? {} : fault === 'away' ? delayed(loaded) : refusal(loaded);
    const push = change.push_status ?? loaded.row.push_status;
    const loop = thread ? loopAfterFault(loaded.loop, LOOP_FAULTS[fault], { push }) : {};
    const seconds = fault === 'away' ? AWAY_SECONDS : REFUSED_SECONDS;
    // A loop has its own retry times.
    const later = loop.wait_until ?? sql<Date>`now() + ${seconds} * interval '1 second'`;
    const next = { next_look_at: thread ? later : null };
    const changed = await changePullRequest(tx, loaded, { ...next, ...change }, loop);
    if (fault !== 'away' && isUpdating(changed.row))
      await endUpdate(
        tx,
        changed,
        fault === 'gone' ? failed('repository_gone', GONE) : failed('access_denied', DENIED),
      );
  });
}
