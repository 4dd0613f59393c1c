/** The end of a command: one transaction changes its status, frees its thread and settles its receipt. */
import type { TaskEnd } from '@headrace/runner/protocol';
import { recordCheckpoint } from '../checkpoints/index.ts';
import type { Context } from '../context.ts';
import type { ExecRow, ThreadRow } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { ApiError, notFound, settles } from '../http/errors.ts';
import type { Job } from '../jobs/job.ts';
import { scopeOf } from '../projects/index.ts';
import { settle } from '../receipts/settle.ts';
import type { Holder } from '../runner/await-runner.ts';
import { insertSource } from '../sources/index.ts';
import type { Staged } from '../sources/index.ts';
import { archived, changeThread, lockThreadById } from '../threads/index.ts';
import type { LoadedThread } from '../threads/index.ts';
import type { Tree } from '../trees/tree.ts';
import {
  captureWorkspace,
  changeWorkspace,
  giveUpRestore,
  isBeyondReading,
  renewedDeadline,
  resetWorkspace,
  stageCapture,
} from '../workspaces/index.ts';
import type { OutputCollector } from './collect-output.ts';
import { changeExec } from './store.ts';

/** The files after a command, staged; null when it changed none. */
type Changed = { tree: Tree; staged: Staged } | 'unreadable' | null;

/** Stores what the command changed, and answers with what it printed. */
export async function completeExec(
  ctx: Context,
  job: Job<'exec.work'>,
  exec: ExecRow,
  { end, output }: { end: TaskEnd; output: OutputCollector },
): Promise<void> {
  const thread = await ctx.db
    .selectFrom('threads')
    .selectAll()
    .where('id', '=', exec.thread_id)
    .executeTakeFirst();
  const changed = thread && !thread.deleted_at ? await stageChanges(ctx, job, thread, output) : null;
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    const now = await lockThreadById(tx, exec.thread_id);
    const sourceId =
      now && changed && changed !== 'unreadable' ? await insertChanges(tx, now, changed) : null;
    if (now && changed === 'unreadable') await freeWithout(tx, now);
    else if (now) await freeThread(ctx, tx, now, sourceId);
    await changeExec(tx, exec.id, 'complete');
    const result = {
      exitCode: end.exitCode,
      signal: end.signal,
      timedOut: end.timedOut,
      ...output.output(),
      durationMs: end.durationMs,
      sourceId,
    };
    await settle(
      tx,
      { operationId: exec.operation_id },
      { status: 200, body: { ok: true, exec: result } },
      { scope: now ? scopeOf(now.project) : undefined },
    );
  });
  if (changed !== 'unreadable') return;
  await ctx.runner
    .deleteWorkspace(exec.thread_id, job.claimedAt)
    .catch((err: unknown) => ctx.log.debug({ err, threadId: exec.thread_id }, 'a workspace was not removed'));
}

/**
 * Stages the files that the command changed; null when there are none. Files that no source may hold are put
 * back, and the command's stderr says so, as it does of a workspace that is too much to read.
 */
async function stageChanges(
  ctx: Context,
  job: Holder,
  thread: ThreadRow,
  output: OutputCollector,
): Promise<Changed> {
  const capture = await captureWorkspace(ctx, thread, thread.latest_source_id).catch((error: unknown) => {
    if (!isBeyondReading(error)) throw error;
    output.add('stderr', `headrace: the workspace is restored from its last source: ${error.message}\n`);
    return null;
  });
  if (!capture) return 'unreadable';
  if (capture.isUnchanged) return null;
  if (capture.fault === null && capture.held)
    return { tree: capture.held, staged: await stageCapture(ctx, thread, capture, thread.latest_source_id) };
  await resetWorkspace(ctx, job, thread, { sourceId: thread.latest_source_id, present: capture });
  output.add(
    'stderr',
    `headrace: the changed files were put back, they break a rule for sources: ${capture.fault}\n`,
  );
  return null;
}

/** Returns the id of the new source. */
async function insertChanges(
  tx: Tx,
  now: LoadedThread,
  changed: { tree: Tree; staged: Staged },
): Promise<string> {
  const parents = now.thread.latest_source_id === null ? [] : [now.thread.latest_source_id];
  const { id } = await insertSource(tx, now.project, {
    ...changed,
    parents,
    origin: 'edit',
    threadId: now.thread.id,
    runId: null,
    message: null,
  });
  await recordCheckpoint(tx, now, { sourceId: id, kind: 'edit', runId: null });
  return id;
}

/** Lets the thread take other work again, based on the command's source where there is one. */
async function freeThread(ctx: Context, tx: Tx, now: LoadedThread, sourceId: string | null): Promise<void> {
  await changeThread(tx, now, {
    active_exec_id: null,
    ...(sourceId
      ? { latest_source_id: sourceId, workspace_source_id: sourceId, last_run_failed: false }
      : {}),
    ...(await renewedDeadline(ctx, tx.db, now.thread)),
  });
}

/** Lets the thread take other work again, which restores its workspace. */
async function freeWithout(tx: Tx, now: LoadedThread): Promise<void> {
  const thread =
    now.thread.workspace_status === 'ready'
      ? await changeWorkspace(tx, now, {
          event: 'vanish',
          reason: 'its files could not be read',
          change: { idle_expires_at: null },
        })
      : now.thread;
  await changeThread(tx, { ...now, thread }, { active_exec_id: null });
}

const LOST = new ApiError(
  'source_workspace_unavailable',
  'The sandbox of this command was lost. Check what the command did, then send it again with a new Idempotency-Key.',
);
const NO_SANDBOX = new ApiError(
  'source_workspace_unavailable',
  'No sandbox could be made for this command. Retry in a moment.',
);

/** Why a command did not start: its thread was deleted or archived meanwhile, or no sandbox could be made. */
function notStarted(thread: ThreadRow | undefined): ApiError {
  if (!thread) return notFound('thread');
  return thread.archived_at ? archived() : NO_SANDBOX;
}

/**
 * Ends a command without a result. `lost`: nobody knows what the command did; the error is stored, so that a
 * retry does not run it again. `not started`: its key is free again, unless the reason is there to stay.
 * Without `job` the write is not fenced.
 */
export async function failExec(
  ctx: Context,
  exec: ExecRow,
  why: 'lost' | 'not started',
  job?: Job<'exec.work'>,
): Promise<void> {
  await transaction(ctx, async (tx) => {
    await job?.fence(tx);
    const now = await lockThreadById(tx, exec.thread_id);
    if (now)
      await changeThread(
        tx,
        { ...now, thread: why === 'lost' ? now.thread : await giveUpRestore(tx, now, null) },
        { active_exec_id: null },
      );
    await changeExec(tx, exec.id, 'fail');
    const error = why === 'lost' ? LOST : notStarted(now?.thread);
    await settle(
      tx,
      { operationId: exec.operation_id },
      { status: error.status, body: error.body(exec.request_id) },
      { scope: now ? scopeOf(now.project) : undefined, isReserved: why === 'lost' || settles(error) },
    );
  });
}
