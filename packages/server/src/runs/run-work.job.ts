/**
 * The job behind a thread's runs: works the active run (its worker died) or the oldest queued one, until
 * none is left. The job holds the thread's key, so that no other one uses the workspace.
 *
 *   take-run       a place is free: queued → running
 *   prepare-run    the workspace holds the thread's latest source
 *   drive-run      ensure-task → turn (the journal) → settle-turn, settle-failure or settle-repair
 *   settle-run     one transaction: source, reply, `run.<end>`, thread
 *
 * What had changed in a run that fails or is stopped becomes a `recovery` source. A stop that was accepted
 * before the run's end wins over it. After a restart an active run goes on where its sandbox lives, else it
 * fails as `worker_lost`.
 */
import { RunnerError } from '@headrace/runner/client';
import type { Context } from '../context.ts';
import { transaction } from '../db/transaction.ts';
import { folderWait, hostStanding, hostWait } from '../hosts/index.ts';
import { enqueue } from '../jobs/enqueue.ts';
import type { Job } from '../jobs/job.ts';
import { freeAfter } from '../runner/place-work.ts';
import { effectiveSettings } from '../settings/index.ts';
import {
  atThread,
  awaitPlace,
  HostRefused,
  placeThread,
  prepareAtHost,
  stayWithThread,
} from '../workspaces/index.ts';
import type { Unplaced } from '../workspaces/index.ts';
import { isFolderTaken } from './at-host.ts';
import type { ClaimedRun } from './claimed-run.ts';
import { driveRun } from './drive-run.ts';
import { prepareRun } from './prepare-run.ts';
import { threadKey } from './queue-run.ts';
import type { Repairs } from './repair/attempt.ts';
import { restoreFiles } from './restore-files.ts';
import { settleRun } from './settle-run.ts';
import { snapshotSource } from './snapshots/keep-snapshot.ts';
import { holdRun, openRuns } from './store.ts';
import { isHeldBack, nextRun, takeRun } from './take-run.ts';
import { refusalOf } from './turn-request.ts';

/** A runner ends a turn after an hour; a run open for longer than this cannot be settled by its turn. */
const GIVEN_UP_MS = 2 * 60 * 60_000;
const AGAIN_SECONDS = 20;
/** Only a fallback: the end of a run makes the jobs due that wait for its folder. */
const FOLDER_SECONDS = 30;
const HOST_GONE = { code: 'host_lost', message: 'The host of this thread was deleted.' } as const;

export async function workRuns(ctx: Context, job: Job<'run.work'>, repairs: Repairs): Promise<void> {
  try {
    await workAll(ctx, job, repairs);
  } finally {
    await freeAfter(ctx, job, threadKey(job.payload.threadId));
  }
}

async function workAll(ctx: Context, job: Job<'run.work'>, repairs: Repairs): Promise<void> {
  while (!job.signal.aborted) {
    const run = await nextRun(ctx.db, job.payload.threadId);
    if (!run) return;
    const claimed = { ctx, job, repairs, run };
    const isDone = run.status === 'queued' ? await startAndDrive(claimed) : await resume(claimed);
    if (!isDone) return;
  }
}

/** False when the job has to end without the run being done: held back, or left to another worker. */
async function startAndDrive(claimed: ClaimedRun): Promise<boolean> {
  const { run } = claimed;
  if (await isHeldBack(claimed)) return false;
  const isRestore = run.kind === 'restore';
  // A restore without a host needs no workspace.
  if (isRestore && !(await isAtHost(claimed))) return restoreFiles(claimed);
  const ctx = await placeThread(claimed.ctx, run.thread_id);
  if (typeof ctx === 'string') return waitForRunner(claimed, ctx);
  const placed = { ...claimed, ctx };
  if (ctx.host && (await failsWithHost(placed))) return true;
  if (ctx.host && (await isFolderTaken(ctx.db, ctx, run))) return waitForFolder(placed);
  if (isRestore) return restoreAtHost(placed);
  const workspace = await prepareRun(placed);
  if (workspace === 'away') return waitForRunner(placed, hostWait(ctx.host!.target.hostId));
  if (workspace !== 'ready') return workspace === 'failed';
  const taken = await takeRun(placed);
  if (taken === 'held') return false;
  if (!taken) return true;
  const started = { ...placed, run: taken.run };
  const { approvals } = await effectiveSettings(ctx.db, run);
  // What a host's agents need and spend is its own.
  const refusal = ctx.host ? null : await refusalOf(ctx, run, approvals);
  // A runner of a fleet is not started again: what is lost is lost with its machine.
  if (!refusal)
    return driveRun(started, ctx.host ? 'host_lost' : ctx.fleet ? 'worker_lost' : 'sandbox_lost', {
      ...taken.loaded,
      rules: approvals,
    });
  await settleRun(started, { status: 'failed', reply: refusal.message, error: refusal });
  return true;
}

/** No runner of the fleet takes the run now, or its host is away: its job is put off. */
async function waitForRunner({ ctx, job, run }: ClaimedRun, why: Unplaced): Promise<false> {
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    if (why !== 'suspect') await holdRun(tx, run.id, why === 'no room');
    await awaitPlace(tx, job, why);
  });
  return false;
}

const isAtHost = async ({ ctx, run }: ClaimedRun): Promise<boolean> =>
  (await atThread(ctx, run.thread_id)).host !== null;

/** Another thread's run works in the folder. */
async function waitForFolder({ ctx, job, run }: ClaimedRun): Promise<false> {
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    await holdRun(tx, run.id);
    await job.putOff(tx, folderWait(ctx.host!.target.bindingId), FOLDER_SECONDS);
  });
  return false;
}

/** A queued run whose host was deleted has ended. */
async function failsWithHost(claimed: ClaimedRun): Promise<boolean> {
  const { ctx } = claimed;
  if ((await hostStanding(ctx, ctx.host!.target.hostId)).is !== 'gone') return false;
  await settleRun(claimed, { status: 'failed', reply: null, error: HOST_GONE });
  return true;
}

/** A worktree gets the files with the source. */
async function restoreAtHost(claimed: ClaimedRun): Promise<boolean> {
  const { ctx, job, run } = claimed;
  try {
    await prepareAtHost(ctx, job, run.thread_id, run.restore_source_id!);
  } catch (error) {
    if (error instanceof RunnerError && error.status === 503)
      return waitForRunner(claimed, hostWait(ctx.host!.target.hostId));
    if (!(error instanceof HostRefused)) throw error;
    const { message } = error;
    await settleRun(claimed, {
      status: 'failed',
      reply: null,
      error: { code: 'workspace_unavailable', message },
    });
    return true;
  }
  return restoreFiles(claimed);
}

/**
 * A run that a worker before this one started. The same task id is never started twice; where the runner is
 * another one, the run is lost.
 */
async function resume(claimed: ClaimedRun): Promise<boolean> {
  const { run } = claimed;
  if (run.kind === 'restore') return restoreFiles(claimed);
  const there = { ...claimed, ctx: await stayWithThread(claimed.ctx, run.thread_id) };
  if (Date.now() - run.started_at!.getTime() < GIVEN_UP_MS)
    return driveRun(there, there.ctx.host ? 'host_lost' : 'worker_lost');
  const source = await snapshotSource(there);
  await settleRun(
    there,
    {
      status: 'failed',
      reply: '[interrupted]',
      error: { code: 'worker_lost', message: 'The end of this run could not be recorded. Retry the run.' },
      ...(source ? { source } : {}),
    },
    { leftover: source ? 'partly kept' : 'changed', isLost: true },
  );
  return true;
}

/**
 * A job that failed too often leaves its open runs to a new one, which gives up those that are open for two
 * hours.
 */
export async function runsDied(ctx: Context, threadId: string): Promise<void> {
  await transaction(ctx, async (tx) => {
    const open = await tx.db
      .selectFrom('runs')
      .select(['org_id', 'project_id'])
      .where('thread_id', '=', threadId)
      .where(openRuns)
      .limit(1)
      .executeTakeFirst();
    if (open)
      await enqueue(
        tx,
        'run.work',
        { threadId },
        { key: threadKey(threadId), turnOf: open, delaySeconds: AGAIN_SECONDS },
      );
  });
}
