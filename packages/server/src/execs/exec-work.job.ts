/**
 * The job behind a command: runs it once, stores what it changed as a new version, settles its receipt. A
 * lost sandbox fails it; it is never run again. While storage is away the end waits, and the thread stays
 * occupied: what the command did is in the workspace alone.
 */
import { RunnerError } from '@headrace/runner/client';
import type { Context } from '../context.ts';
import type { ExecRow, ThreadRow } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import { enqueue } from '../jobs/enqueue.ts';
import type { Job } from '../jobs/job.ts';
import { RunnerAway } from '../runner/await-runner.ts';
import { freeAfter } from '../runner/place-work.ts';
import { threadKey } from '../runs/index.ts';
import { sandboxOf } from '../settings/index.ts';
import {
  awaitPlace,
  placeThread,
  prepareWorkspace,
  stayWithThread,
  WorkspaceChanged,
} from '../workspaces/index.ts';
import { completeExec, failExec } from './end-exec.ts';
import { followCommand, hasTask } from './follow-command.ts';
import type { Outcome } from './follow-command.ts';
import { isEnded } from './state.ts';
import { changeExec, findExec, isOpenAndYoung } from './store.ts';

const PREPARE_TRIES = 3;
/** The interval at which a result that cannot be stored is tried again, and for how long. */
const RETRY_SECONDS = 20;
const GIVE_UP_SECONDS = 60 * 60;

export async function workExec(ctx: Context, job: Job<'exec.work'>): Promise<void> {
  const exec = await findExec(ctx.db, job.payload.execId);
  if (!exec || isEnded(exec.status)) return;
  const { thread_id: threadId } = exec;
  const at = await (exec.status === 'running' ? stayWithThread(ctx, threadId) : placeThread(ctx, threadId));
  if (typeof at === 'string')
    return transaction(ctx, async (tx) => {
      await job.fence(tx);
      await awaitPlace(tx, job, at);
    });
  try {
    await workAt(at, job, exec);
  } finally {
    await freeAfter(ctx, job, threadKey(threadId));
  }
}

async function workAt(ctx: Context, job: Job<'exec.work'>, exec: ExecRow): Promise<void> {
  const begun = await ensureTask(ctx, job, exec);
  if (begun === 'waits') return;
  if (begun === 'not started') return failExec(ctx, exec, begun, job);
  const outcome: Outcome = begun === 'there' ? await followCommand(ctx, job, exec) : { kind: 'lost' };
  if (outcome.kind === 'left') return;
  const fault = outcome.kind === 'lost' ? 'sandbox_lost' : outcome.end.error?.code;
  if (fault === 'workspace_unavailable') await failExec(ctx, exec, 'not started', job);
  else if (outcome.kind === 'lost' || fault === 'sandbox_lost') await failExec(ctx, exec, 'lost', job);
  else await completeExec(ctx, job, exec, outcome);
  await ctx.runner
    .deleteTask(exec.operation_id, job.claimedAt)
    .catch((err: unknown) =>
      ctx.log.debug({ err, threadId: exec.thread_id }, 'a task was not removed; the runner forgets it'),
    );
}

/**
 * Starts the command, or finds it there. `lost`: an earlier attempt may have run it in a sandbox that is
 * gone. `not started`: no sandbox could be made. `waits`: the job is put off until the app's setup has ended.
 */
async function ensureTask(
  ctx: Context,
  job: Job<'exec.work'>,
  exec: ExecRow,
): Promise<'there' | 'lost' | 'not started' | 'waits'> {
  const { operation_id: taskId, thread_id: threadId } = exec;
  if (exec.status === 'running') return (await hasTask(ctx, exec)) ? 'there' : 'lost';
  let sandbox: Awaited<ReturnType<typeof sandboxOf>>;
  try {
    const thread = await prepareThread(ctx, job, threadId);
    if (!thread) return 'not started';
    if (thread === 'waits') return thread;
    sandbox = await sandboxOf(ctx, thread, 'exec');
  } catch (err) {
    // Another worker may reach the runner.
    if (err instanceof RunnerAway) throw err;
    ctx.log.warn({ err, threadId }, 'the workspace of a command could not be prepared');
    return 'not started';
  }
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    await changeExec(tx, exec.id, 'start');
  });
  try {
    await ctx.runner.startTask(
      taskId,
      {
        kind: 'exec',
        workspaceId: threadId,
        command: exec.command,
        ...(exec.stdin === null ? {} : { stdin: exec.stdin }),
        timeoutMs: exec.timeout_seconds * 1000,
        ...sandbox,
      },
      job.claimedAt,
    );
    return 'there';
  } catch (err) {
    ctx.log.warn({ err, threadId }, 'a command could not be started');
    return 'lost';
  }
}

/**
 * Prepares the thread's workspace. Undefined for a thread that is archived or deleted; one that was archived
 * for a moment only is tried again.
 */
async function prepareThread(
  ctx: Context,
  job: Job,
  threadId: string,
): Promise<ThreadRow | 'waits' | undefined> {
  let thread: ThreadRow | 'waits' | undefined;
  for (let tries = 0; !thread && tries < PREPARE_TRIES; tries++)
    thread = await prepareWorkspace(ctx, job, threadId, { reason: 'exec', runId: null });
  return thread;
}

/**
 * Handles a job that failed too often. A result that storage does not take yet is kept for an hour; then the
 * thread is freed.
 */
export async function execDied(ctx: Context, execId: string, error: unknown): Promise<void> {
  const exec = await findExec(ctx.db, execId);
  if (!exec) return;
  const isSandboxFault = error instanceof RunnerError || error instanceof WorkspaceChanged;
  const isKept = !isSandboxFault && (await keepExec(ctx, exec));
  if (!isKept) await failExec(ctx, exec, 'lost');
}

/** Gives the command another job. False when it has ended, or was sent too long ago. */
async function keepExec(ctx: Context, exec: ExecRow): Promise<boolean> {
  return transaction(ctx, async (tx) => {
    if (!(await isOpenAndYoung(tx, exec.id, GIVE_UP_SECONDS))) return false;
    // A job that failed this often is not trusted to have started nothing: the command counts as started.
    await changeExec(tx, exec.id, 'start');
    await enqueue(
      tx,
      'exec.work',
      { execId: exec.id },
      { key: threadKey(exec.thread_id), turnOf: exec, delaySeconds: RETRY_SECONDS },
    );
    return true;
  });
}
