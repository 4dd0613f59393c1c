/**
 * Prepares a new thread's workspace. The states of an initialization are listed in threads/state.ts; archive,
 * delete, retry and message change them in their own operations.
 */
import { RunnerError } from '@headrace/runner/client';
import type { Context } from '../context.ts';
import type { ThreadRow } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { hostWait } from '../hosts/index.ts';
import type { Job } from '../jobs/job.ts';
import type { SetupFound } from '../setups/index.ts';
import { awaitRunner, endTasks } from '../runner/await-runner.ts';
import { freeAfter } from '../runner/place-work.ts';
import {
  changeThread,
  initializationChange,
  lockThreadById,
  setInitializationPhase,
} from '../threads/index.ts';
import type { LoadedThread } from '../threads/index.ts';
import { changeWorkspace } from './change-workspace.ts';
import { freshDeadline } from './idle.ts';
import { fetchStart, RepositoryFault, resolveStart } from './fetch-start.ts';
import { HostFault, importAtHost } from './initialize-at-host.ts';
import { awaitPlace, placeThread } from './place-thread.ts';
import type { Unplaced } from './place-thread.ts';
import { HostRefused } from './prepare-at-host.ts';
import { restoreWithSetup, setupColumns } from './restore-with-setup.ts';

const ATTEMPTS = 3;

/** Why a preparation failed, for the thread; its message for people. */
interface Failure {
  code: string;
  message: string;
}

const NO_WORKSPACE: Failure = {
  code: 'workspace_unavailable',
  message: 'No workspace could be prepared. Retry, or ask the operator to look at the sandbox.',
};

type InitializeJob = Job<'thread.initialize'>;

/**
 * Fails the queued runs of a thread that cannot be prepared, and returns how many. worker.ts hands it over,
 * since runs import workspaces.
 */
type FailQueuedRuns = (
  tx: Tx,
  loaded: LoadedThread,
  error: { code: 'workspace_unavailable'; message: string },
) => Promise<number>;

export async function initializeThread(
  ctx: Context,
  job: InitializeJob,
  failQueuedRuns: FailQueuedRuns,
): Promise<void> {
  const holder = `thread:${job.payload.threadId}`;
  const at = await placeThread(ctx, job.payload.threadId);
  if (typeof at === 'string') return putOff(ctx, job, at);
  try {
    await initializeAt(at, job, failQueuedRuns);
  } finally {
    await freeAfter(ctx, job, holder);
  }
}

/** No runner has room, or its host is away: the thread waits. */
async function putOff(ctx: Context, job: InitializeJob, why: Unplaced): Promise<void> {
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    await awaitPlace(tx, job, why);
  });
}

async function initializeAt(ctx: Context, job: InitializeJob, failQueuedRuns: FailQueuedRuns): Promise<void> {
  const begun = await begin(ctx, job);
  if (!begun) return;
  const { thread } = begun;
  let prepared: Prepared | 'waits' | undefined;
  try {
    prepared = await (ctx.host ? prepareAtItsHost(ctx, job, begun) : prepare(ctx, job, begun));
  } catch (error) {
    if (ctx.host && error instanceof RunnerError && error.status === 503)
      return putOff(ctx, job, hostWait(ctx.host.target.hostId));
    const { failure, isFinal } = faultOf(error);
    if (!isFinal && thread.initialization_attempt_count < ATTEMPTS) throw error;
    ctx.log[isFinal ? 'info' : 'error']({ err: error, thread: thread.id }, 'a thread could not be prepared');
    return fail(ctx, { threadId: thread.id, failure, job }, failQueuedRuns);
  }
  if (prepared && prepared !== 'waits') await complete(ctx, job, thread.id, prepared);
}

/** Counts the attempt, unless it goes on after a wait for a setup. Undefined when the thread takes no preparation any more. */
async function begin(ctx: Context, job: InitializeJob): Promise<LoadedThread | undefined> {
  return transaction(ctx, async (tx) => {
    await job.fence(tx);
    const now = await lockThreadById(tx, job.payload.threadId);
    const change = now && initializationChange(now.thread, 'begin');
    if (!change || now.thread.archived_at) return undefined;
    const { workspace_status: status, workspace_setup_status: setup, setup_id: setupId } = now.thread;
    const hasWaited = setup === 'running' && setupId !== null;
    const at = ctx.at ? { runner_id: ctx.at.id } : {};
    const thread =
      status === 'preparing'
        ? await changeThread(tx, now, {
            ...change,
            ...at,
            ...(hasWaited
              ? {
                  initialization_attempt_count: now.thread.initialization_attempt_count,
                  workspace_setup_status: 'pending',
                  // The next attempt counts.
                  setup_id: null,
                }
              : {}),
          })
        : await changeWorkspace(tx, now, {
            event: 'prepare',
            reason: 'initialization',
            change: { ...change, ...at },
          });
    return { ...now, thread };
  });
}

/** What a thread was prepared with. */
interface Prepared {
  /** Null: it is at a host. */
  runnerId: string | null;
  sourceId: string | null;
  setup: SetupFound;
}

function faultOf(error: unknown): { failure: Failure; isFinal: boolean } {
  if (error instanceof RepositoryFault) return error;
  if (error instanceof HostFault) return { failure: error.failure, isFinal: true };
  if (error instanceof HostRefused)
    return { failure: { code: error.code, message: error.message }, isFinal: true };
  return { failure: NO_WORKSPACE, isFinal: false };
}

async function prepareAtItsHost(
  ctx: Context,
  job: InitializeJob,
  loaded: LoadedThread,
): Promise<Prepared | undefined> {
  const sourceId = await importAtHost(ctx, job, loaded);
  if (sourceId === undefined) return undefined;
  if (await hasQueuedRun(ctx, loaded.thread.id)) await show(ctx, loaded.thread.id, 'dispatching_run');
  return { runnerId: null, sourceId, setup: { kind: 'none' } };
}

const show = (ctx: Context, threadId: string, phase: NonNullable<ThreadRow['initialization_phase']>) =>
  setInitializationPhase(ctx.db, threadId, { initialization_phase: phase });

/** Fetches what the thread starts from, restores the workspace, and shows the phases of that. Undefined where the thread was archived or deleted. */
async function prepare(
  ctx: Context,
  job: InitializeJob,
  loaded: LoadedThread,
): Promise<Prepared | 'waits' | undefined> {
  const { thread, project } = loaded;
  const runnerId = await awaitRunner(ctx);
  if (project.kind === 'direct') await show(ctx, thread.id, 'resolving_repository');
  const start = await resolveStart(ctx, loaded);
  await show(ctx, thread.id, 'allocating_sandbox');
  await endTasks(ctx, job, thread.id);
  if (project.kind === 'direct') await show(ctx, thread.id, 'fetching_repository');
  const fetched = start ? await fetchStart(ctx, job, loaded, start) : thread;
  await setInitializationPhase(ctx.db, thread.id, {
    initialization_phase: 'configuring_workspace',
    workspace_setup_status: 'running',
  });
  const setup = await restoreWithSetup(ctx, job, fetched);
  if (setup === undefined || setup === 'waits') return setup;
  if (await hasQueuedRun(ctx, thread.id)) await show(ctx, thread.id, 'dispatching_run');
  return { runnerId, sourceId: fetched.latest_source_id, setup };
}

async function hasQueuedRun(ctx: Context, threadId: string): Promise<boolean> {
  const queued = await ctx.db
    .selectFrom('runs')
    .select('id')
    .where('thread_id', '=', threadId)
    .where('status', '=', 'queued')
    .limit(1)
    .executeTakeFirst();
  return queued !== undefined;
}

async function complete(
  ctx: Context,
  job: InitializeJob,
  threadId: string,
  { runnerId, sourceId: restored, setup }: Prepared,
): Promise<void> {
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    const now = await lockThreadById(tx, threadId);
    const change = now && initializationChange(now.thread, 'complete');
    if (!change) return;
    const deadline = await freshDeadline(ctx, tx.db, now.thread);
    await changeWorkspace(tx, now, {
      event: 'restore',
      reason: 'initialization',
      sourceId: restored,
      change: {
        ...change,
        workspace_source_id: restored,
        runner_id: runnerId,
        idle_expires_at: deadline,
        ...setupColumns(setup),
      },
    });
  });
}

/** A job that failed too often at other steps: its thread must not stay in preparation for ever. */
export async function initializationDied(
  ctx: Context,
  threadId: string,
  failQueuedRuns: FailQueuedRuns,
): Promise<void> {
  await fail(ctx, { threadId, failure: NO_WORKSPACE }, failQueuedRuns);
}

async function fail(
  ctx: Context,
  { threadId, failure, job }: { threadId: string; failure: Failure; job?: InitializeJob },
  failQueuedRuns: FailQueuedRuns,
): Promise<void> {
  const { code, message } = failure;
  await transaction(ctx, async (tx) => {
    await job?.fence(tx);
    const now = await lockThreadById(tx, threadId);
    const change = now && initializationChange(now.thread, 'fail');
    if (!change) return;
    const failed = await failQueuedRuns(tx, now, { code: 'workspace_unavailable', message });
    await changeWorkspace(tx, now, {
      event: 'fail',
      reason: 'initialization failed',
      change: {
        ...change,
        initialization_error_code: code,
        initialization_error_message: message,
        ...(failed ? { last_run_failed: true } : {}),
      },
    });
  });
}
