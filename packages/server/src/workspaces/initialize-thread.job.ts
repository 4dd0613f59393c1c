/**
 * Prepares a new thread's workspace.
 *
 *   accepted --claimed, attempt + 1--> preparing --workspace ready--> completed
 *                                      preparing --third failed attempt--> failed   (queued runs fail `workspace_unavailable`)
 *   accepted, preparing --archive, delete--> cancelled                              (by that operation)
 *   failed, cancelled --retry, message--> accepted                                  (by that operation)
 */
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import type { Job } from '../jobs/job.ts';
import { changeThread, lockThreadById, setInitializationPhase } from '../threads/index.ts';
import type { LoadedThread } from '../threads/index.ts';
import { changeWorkspace } from './change-workspace.ts';
import { freshDeadline } from './idle.ts';
import { awaitRunner, endTasks } from '../runner/await-runner.ts';
import { restoreWorkspace } from './restore-workspace.ts';

const ATTEMPTS = 3;

/**
 * Ends the queued runs of a thread that cannot be prepared; given by worker.ts, since runs know workspaces.
 * Returns how many.
 */
export type FailQueuedRuns = (
  tx: Tx,
  loaded: LoadedThread,
  error: { code: 'workspace_unavailable'; message: string },
) => Promise<number>;

export async function initializeThread(
  ctx: Context,
  job: Job<'thread.initialize'>,
  failQueuedRuns: FailQueuedRuns,
): Promise<void> {
  const begun = await begin(ctx, job);
  if (!begun) return;
  const { thread, project } = begun;
  let runnerId: string;
  try {
    runnerId = await awaitRunner(ctx);
    // A Direct project may have a repository; what stands in its sources is what there is to fetch.
    if (project.kind === 'direct') await phase(ctx, thread.id, 'resolving_repository');
    await phase(ctx, thread.id, 'allocating_sandbox');
    await endTasks(ctx, job, thread.id);
    if (project.kind === 'direct') await phase(ctx, thread.id, 'fetching_repository');
    await restoreWorkspace(ctx, job, thread, thread.latest_source_id);
    await phase(ctx, thread.id, 'configuring_workspace', 'running');
    if (await hasQueuedRun(ctx, thread.id)) await phase(ctx, thread.id, 'dispatching_run');
  } catch (error) {
    if (thread.initialization_attempt_count < ATTEMPTS) throw error;
    ctx.log.error({ err: error, thread: thread.id }, 'a workspace could not be prepared');
    return fail(ctx, thread.id, failQueuedRuns, job);
  }
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    const now = await lockThreadById(tx, thread.id);
    if (!now || now.thread.initialization_state !== 'preparing') return;
    const deadline = await freshDeadline(ctx, tx.db, now.thread);
    await changeWorkspace(tx, now, 'ready', 'initialization', {
      sourceId: thread.latest_source_id,
      change: {
        initialization_state: 'completed',
        initialization_phase: null,
        initialization_error_code: null,
        initialization_error_message: null,
        initialization_updated_at: sql<Date>`now()`,
        workspace_setup_status: 'ready',
        workspace_source_id: thread.latest_source_id,
        runner_id: runnerId,
        idle_expires_at: deadline,
      },
    });
  });
}

/** accepted → preparing; counts the attempt. Undefined when the thread wants none any more. */
async function begin(ctx: Context, job: Job<'thread.initialize'>): Promise<LoadedThread | undefined> {
  return transaction(ctx, async (tx) => {
    await job.fence(tx);
    const now = await lockThreadById(tx, job.payload.threadId);
    if (
      !now ||
      now.thread.archived_at ||
      !['accepted', 'preparing'].includes(now.thread.initialization_state)
    )
      return undefined;
    const change = {
      initialization_state: 'preparing',
      initialization_phase: 'provisioning_workspace',
      initialization_attempt_count: sql<number>`initialization_attempt_count + 1`,
      initialization_updated_at: sql<Date>`now()`,
    };
    const thread =
      now.thread.workspace_status === 'preparing'
        ? await changeThread(tx, now, change)
        : await changeWorkspace(tx, now, 'preparing', 'initialization', {
            change: { ...change, workspace_setup_status: 'pending' },
          });
    return { ...now, thread };
  });
}

async function phase(ctx: Context, threadId: string, name: string, setup?: string): Promise<void> {
  await setInitializationPhase(ctx.db, threadId, {
    initialization_phase: name,
    ...(setup ? { workspace_setup_status: setup } : {}),
  });
}

async function hasQueuedRun(ctx: Context, threadId: string): Promise<boolean> {
  return (
    (await ctx.db
      .selectFrom('runs')
      .select('id')
      .where('thread_id', '=', threadId)
      .where('status', '=', 'queued')
      .limit(1)
      .executeTakeFirst()) !== undefined
  );
}

/**
 * A job that failed too often at something else than the workspace: the thread must not stay in preparation
 * for ever.
 */
export async function initializationDied(
  ctx: Context,
  threadId: string,
  failQueuedRuns: FailQueuedRuns,
): Promise<void> {
  await fail(ctx, threadId, failQueuedRuns);
}

async function fail(
  ctx: Context,
  threadId: string,
  failQueuedRuns: FailQueuedRuns,
  job?: Job<'thread.initialize'>,
): Promise<void> {
  const message = 'No workspace could be prepared. Retry, or ask the operator to look at the sandbox.';
  await transaction(ctx, async (tx) => {
    await job?.fence(tx);
    const now = await lockThreadById(tx, threadId);
    if (!now || !['accepted', 'preparing'].includes(now.thread.initialization_state)) return;
    const failed = await failQueuedRuns(tx, now, { code: 'workspace_unavailable', message });
    await changeWorkspace(tx, now, 'error', 'initialization failed', {
      change: {
        initialization_state: 'failed',
        initialization_phase: null,
        initialization_error_code: 'workspace_unavailable',
        initialization_error_message: message,
        initialization_updated_at: sql<Date>`now()`,
        workspace_setup_status: 'failed',
        ...(failed ? { last_run_failed: true } : {}),
      },
    });
  });
}
