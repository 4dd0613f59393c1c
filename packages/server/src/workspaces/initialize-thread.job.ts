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
import type { ThreadRow } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import type { Job } from '../jobs/worker.ts';
import { loadTree, tarOf } from '../sources/index.ts';
import { changeThread, lockThreadById } from '../threads/index.ts';
import type { LoadedThread } from '../threads/index.ts';
import { changeWorkspace } from './change-workspace.ts';
import { freshDeadline } from './idle.ts';
import { requireRunner, runnerIdOf } from './prepare-workspace.ts';

const ATTEMPTS = 3;

/** Ends the queued runs of a thread that cannot be prepared; given by worker.ts, since runs know workspaces. */
export type FailQueuedRuns = (tx: Tx, loaded: LoadedThread, error: { code: 'workspace_unavailable'; message: string }) => Promise<void>;

export async function initializeThread(ctx: Context, job: Job<'thread.initialize'>, failQueuedRuns: FailQueuedRuns): Promise<void> {
  const thread = await begin(ctx, job);
  if (!thread) return;
  try {
    requireRunner(ctx);
    await phase(ctx, thread.id, 'allocating_sandbox');
    await ctx.runner.putWorkspace(thread.id, tarOf(ctx, thread.project_id, thread.latest_source_id === null ? new Map() : await loadTree(ctx, thread.latest_source_id)));
    await phase(ctx, thread.id, 'configuring_workspace', 'running');
    if (await hasQueuedRun(ctx, thread.id)) await phase(ctx, thread.id, 'dispatching_run');
  } catch (error) {
    if (thread.initialization_attempt_count < ATTEMPTS) throw error;
    return fail(ctx, job, thread.id, error as Error, failQueuedRuns);
  }
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    const now = await lockThreadById(tx, thread.id);
    if (!now || now.thread.initialization_state !== 'preparing') return;
    const deadline = await freshDeadline(tx.db, now.thread, ctx.config.idleTimeoutMinutes);
    await changeWorkspace(tx, now, 'ready', 'initialization', {
      sourceId: thread.latest_source_id,
      change: {
        initialization_state: 'completed', initialization_phase: null, initialization_error_code: null, initialization_error_message: null, initialization_updated_at: sql<Date>`now()`,
        workspace_setup_status: 'ready', workspace_source_id: thread.latest_source_id, runner_id: runnerIdOf(ctx), idle_expires_at: deadline,
      },
    });
  });
}

/** accepted → preparing; counts the attempt. Undefined when the thread wants none any more. */
async function begin(ctx: Context, job: Job<'thread.initialize'>): Promise<ThreadRow | undefined> {
  return transaction(ctx, async (tx) => {
    await job.fence(tx);
    const now = await lockThreadById(tx, job.payload.threadId);
    if (!now || now.thread.archived_at || !['accepted', 'preparing'].includes(now.thread.initialization_state)) return undefined;
    const change = { initialization_state: 'preparing', initialization_phase: 'provisioning_workspace', initialization_attempt_count: sql<number>`initialization_attempt_count + 1`, initialization_updated_at: sql<Date>`now()` };
    if (now.thread.workspace_status === 'preparing') return changeThread(tx, now, change);
    return changeWorkspace(tx, now, 'preparing', 'initialization', { change: { ...change, workspace_setup_status: 'pending' } });
  });
}

async function phase(ctx: Context, threadId: string, name: string, setup?: string): Promise<void> {
  await ctx.db.updateTable('threads').set({ initialization_phase: name, initialization_updated_at: sql<Date>`now()`, ...(setup ? { workspace_setup_status: setup } : {}) }).where('id', '=', threadId).where('initialization_state', '=', 'preparing').execute();
}

async function hasQueuedRun(ctx: Context, threadId: string): Promise<boolean> {
  return (await ctx.db.selectFrom('runs').select('id').where('thread_id', '=', threadId).where('status', '=', 'queued').limit(1).executeTakeFirst()) !== undefined;
}

async function fail(ctx: Context, job: Job<'thread.initialize'>, threadId: string, error: Error, failQueuedRuns: FailQueuedRuns): Promise<void> {
  ctx.log.error({ err: error, thread: threadId }, 'a workspace could not be prepared');
  const message = 'No workspace could be prepared. Retry, or ask the operator to look at the sandbox.';
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    const now = await lockThreadById(tx, threadId);
    if (!now || now.thread.initialization_state !== 'preparing') return;
    await failQueuedRuns(tx, now, { code: 'workspace_unavailable', message });
    await changeWorkspace(tx, now, 'error', 'initialization failed', {
      change: { initialization_state: 'failed', initialization_phase: null, initialization_error_code: 'workspace_unavailable', initialization_error_message: message, initialization_updated_at: sql<Date>`now()`, workspace_setup_status: 'failed' },
    });
  });
}
