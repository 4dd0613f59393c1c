/**
 * The job behind a command: runs it once, stores what it changed as a new version, settles its receipt. A
 * lost sandbox fails it; it is never run again. While storage is away its end waits for it, and the thread
 * stays occupied: what the command did is in the workspace alone.
 */
import { sql } from 'kysely';
import { RunnerError } from '@headrace/runner/client';
import type { TaskEnd } from '@headrace/runner/protocol';
import { recordCheckpoint } from '../checkpoints/index.ts';
import type { Context } from '../context.ts';
import { json } from '../db/schema.ts';
import type { ThreadRow } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import { ApiError, notFound, settles } from '../http/errors.ts';
import { enqueue } from '../jobs/enqueue.ts';
import type { Job } from '../jobs/worker.ts';
import { settle } from '../receipts/receipts.ts';
import { scopeOf } from '../projects/index.ts';
import { threadKey } from '../runs/index.ts';
import { insertSource } from '../sources/index.ts';
import type { Staged } from '../sources/index.ts';
import type { Tree } from '../trees/tree.ts';
import { egressOf } from '../settings/index.ts';
import { archived, changeThread, lockThreadById } from '../threads/index.ts';
import {
  captureWorkspace,
  freshDeadline,
  giveUpRestore,
  prepareWorkspace,
  putBack,
  stageCapture,
  WorkspaceChanged,
} from '../workspaces/index.ts';
import type { Holder } from '../runner/await-runner.ts';
import type { OutputCollector } from './collect-output.ts';
import { follow, isThere } from './follow-command.ts';
import type { Outcome } from './follow-command.ts';

export interface ExecPayload extends Record<string, unknown> {
  operationId: string;
  /** Of the request that asked for it: what an error says. */
  requestId: string;
  threadId: string;
  command: string;
  timeoutSeconds: number;
  stdin?: string;
  /** Committed before the command is started: from then on it is never started again. */
  isStarted?: boolean;
}

const PREPARE_TRIES = 3;
/** How often, and how long, a result is kept that cannot be stored. */
const AGAIN_SECONDS = 20;
const GIVEN_UP_SECONDS = 60 * 60;

type Changed = { tree: Tree; staged: Staged } | null;

export async function workExec(ctx: Context, job: Job<'exec.work'>): Promise<void> {
  const payload = job.payload as ExecPayload;
  const { operationId, threadId } = payload;
  const row = await ctx.db
    .selectFrom('operations')
    .select('status')
    .where('id', '=', operationId)
    .executeTakeFirst();
  if (row?.status !== 'pending') return;
  const begun = await ensureTask(ctx, job, payload);
  if (begun === 'not started') return fail(ctx, payload, begun, job);
  const outcome: Outcome = begun === 'there' ? await follow(ctx, job, payload) : { kind: 'lost' };
  if (outcome.kind === 'left') return;
  if (outcome.kind === 'lost') await fail(ctx, payload, 'lost', job);
  else await finish(ctx, job, payload, outcome.end, outcome.output);
  await ctx.runner
    .deleteTask(operationId, job.claimedAt)
    .catch((err: unknown) =>
      ctx.log.debug({ err, threadId }, 'a task was not removed; the runner forgets it'),
    );
}

/**
 * Starts the command, or finds it there. `lost`: an earlier attempt may have run it in a sandbox that is
 * gone. `not started`: none could be made.
 */
async function ensureTask(
  ctx: Context,
  job: Job<'exec.work'>,
  payload: ExecPayload,
): Promise<'there' | 'lost' | 'not started'> {
  const { operationId, threadId, command, timeoutSeconds, stdin } = payload;
  if (payload.isStarted) return (await isThere(ctx, operationId)) ? 'there' : 'lost';
  let egress: { egress?: string[] };
  try {
    const thread = await preparedFor(ctx, job, threadId);
    if (!thread) return 'not started';
    egress = await egressOf(ctx.db, thread);
  } catch (err) {
    ctx.log.warn({ err, threadId }, 'the workspace of a command could not be prepared');
    return 'not started';
  }
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    await tx.db
      .updateTable('jobs')
      .set({ payload: json({ ...payload, isStarted: true }) })
      .where('id', '=', job.id)
      .execute();
  });
  try {
    await ctx.runner.startTask(
      operationId,
      {
        kind: 'exec',
        workspaceId: threadId,
        command,
        ...(stdin === undefined ? {} : { stdin }),
        timeoutMs: timeoutSeconds * 1000,
        ...egress,
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
 * The thread's workspace; undefined on a thread that is archived or deleted, which one that was archived
 * for a moment is not.
 */
async function preparedFor(ctx: Context, job: Holder, threadId: string): Promise<ThreadRow | undefined> {
  let thread: ThreadRow | undefined;
  for (let tries = 0; !thread && tries < PREPARE_TRIES; tries++)
    thread = await prepareWorkspace(ctx, job, threadId, 'exec', null);
  return thread;
}

async function finish(
  ctx: Context,
  job: Job<'exec.work'>,
  payload: ExecPayload,
  end: TaskEnd,
  output: OutputCollector,
): Promise<void> {
  if (end.error?.code === 'sandbox_lost') return fail(ctx, payload, 'lost', job);
  const thread = await ctx.db
    .selectFrom('threads')
    .selectAll()
    .where('id', '=', payload.threadId)
    .executeTakeFirst();
  const changed = thread && !thread.deleted_at ? await whatChanged(ctx, job, thread, output) : null;
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    const now = await lockThreadById(tx, payload.threadId);
    let sourceId: string | null = null;
    if (now && changed) {
      const parents = now.thread.latest_source_id === null ? [] : [now.thread.latest_source_id];
      sourceId = (
        await insertSource(tx, now.project, {
          ...changed,
          parents,
          origin: 'edit',
          threadId: now.thread.id,
          runId: null,
          message: null,
        })
      ).id;
      await recordCheckpoint(tx, now, sourceId, 'edit', null);
    }
    if (now) {
      const idle =
        now.thread.workspace_status === 'ready'
          ? { idle_expires_at: await freshDeadline(ctx, tx.db, now.thread) }
          : {};
      await changeThread(tx, now, {
        exec_operation_id: null,
        ...(sourceId
          ? { latest_source_id: sourceId, workspace_source_id: sourceId, last_run_failed: false }
          : {}),
        ...idle,
      });
    }
    const exec = {
      exitCode: end.exitCode,
      signal: end.signal,
      timedOut: end.timedOut,
      ...output.output(),
      durationMs: end.durationMs,
      sourceId,
    };
    await settle(
      tx,
      payload.operationId,
      undefined,
      { status: 200, body: { ok: true, exec } },
      now ? scopeOf(now.project) : undefined,
    );
  });
}

/**
 * Files that the command changed, staged; null when none. What may be no source is undone, and the
 * command's stderr says so.
 */
async function whatChanged(
  ctx: Context,
  job: Holder,
  thread: ThreadRow,
  output: OutputCollector,
): Promise<Changed> {
  const capture = await captureWorkspace(ctx, thread, thread.latest_source_id);
  if (capture.isUnchanged) return null;
  if (!capture.fault)
    return { tree: capture.tree, staged: await stageCapture(ctx, thread, capture, thread.latest_source_id) };
  await putBack(ctx, job, thread, thread.latest_source_id, capture.tree);
  output.add(
    'stderr',
    `headrace: the changed files were put back, they break a rule for sources: ${capture.fault}\n`,
  );
  return null;
}

/**
 * The job failed too often. A result that storage does not take yet is kept for an hour; the thread must
 * not stay busy for ever.
 */
export async function execDied(ctx: Context, payload: ExecPayload, error: unknown): Promise<void> {
  const isSandboxs = error instanceof RunnerError || error instanceof WorkspaceChanged;
  const isKept =
    !isSandboxs &&
    (await transaction(ctx, async (tx) => {
      const open = await tx.db
        .selectFrom('operations')
        .innerJoin('threads', 'threads.exec_operation_id', 'operations.id')
        .select('threads.project_id')
        .where('operations.id', '=', payload.operationId)
        .where('operations.status', '=', 'pending')
        .where('operations.created_at', '>', sql<Date>`now() - ${GIVEN_UP_SECONDS} * interval '1 second'`)
        .executeTakeFirst();
      // Whether it was started is not known here for sure: it is not started again.
      if (open)
        await enqueue(tx, 'exec.work', { ...payload, isStarted: true } as ExecPayload, {
          key: threadKey(payload.threadId),
          fairKey: open.project_id,
          delaySeconds: AGAIN_SECONDS,
        });
      return open !== undefined;
    }));
  if (!isKept) await fail(ctx, payload, 'lost');
}

const LOST = new ApiError(
  'source_workspace_unavailable',
  'The sandbox of this command was lost. Check what the command did, then send it again with a new Idempotency-Key.',
);
const NO_SANDBOX = new ApiError(
  'source_workspace_unavailable',
  'No sandbox could be made for this command. Retry in a moment.',
);

/**
 * Why a command was not started: its thread was deleted or archived meanwhile, or no sandbox could be made.
 */
function whyNotStarted(thread: ThreadRow | undefined): ApiError {
  if (!thread) return notFound('thread');
  return thread.archived_at ? archived() : NO_SANDBOX;
}

/**
 * `lost`: nobody knows what the command did; told once, and stored, so that a retry does not run it again.
 * `not started`: where that may change by itself its key is free again.
 */
async function fail(
  ctx: Context,
  { operationId, requestId, threadId }: ExecPayload,
  why: 'lost' | 'not started',
  job?: Job<'exec.work'>,
): Promise<void> {
  await transaction(ctx, async (tx) => {
    await job?.fence(tx);
    const now = await lockThreadById(tx, threadId);
    if (now)
      await changeThread(
        tx,
        { ...now, thread: why === 'lost' ? now.thread : await giveUpRestore(tx, now, null) },
        { exec_operation_id: null },
      );
    const error = why === 'lost' ? LOST : whyNotStarted(now?.thread);
    await settle(
      tx,
      operationId,
      undefined,
      { status: error.status, body: error.body(requestId) },
      now ? scopeOf(now.project) : undefined,
      why === 'lost' || settles(error),
    );
  });
}
