/**
 * Saves a workspace and ends its runtime: its idle time is over, or its thread was archived or deleted.
 * What stands in it and in no source becomes a `recovery` source with a checkpoint first; where that fails
 * the workspace stays.
 *
 *   due? --> save (outside of a transaction) --> still due? kept --> runtime ended --> archived |
 *   cleanup_pending
 *
 * What fails is tried again, the first time after a second, later at most every minute. The row says when,
 * not the job, which would keep its thread's key meanwhile: a message must not wait for it. The sweep
 * enqueues it then.
 */
import { RunnerError } from '@headrace/runner/client';
import { sql } from 'kysely';
import { databaseNow } from '../clock.ts';
import type { Context } from '../context.ts';
import { within } from '../deadline.ts';
import type { ThreadRow } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { enqueue } from '../jobs/enqueue.ts';
import { LostJob } from '../jobs/job.ts';
import type { Job } from '../jobs/job.ts';
import { abandon } from '../sources/index.ts';
import { delayArchive, lockThreadById, requireIdle } from '../threads/index.ts';
import { endTasks } from '../runner/await-runner.ts';
import { changeWorkspace, vanishWorkspace } from './change-workspace.ts';
import { isBeyondReading, keepUnsaved, readUnsaved } from './save-workspace.ts';
import type { Unsaved } from './save-workspace.ts';

const AGAIN_SECONDS = 30;
const MAX_RETRY_SECONDS = 60;
const SAVE_MS = 5 * 60_000;
const END_MS = 60_000;

type Archiving = Job<'workspace.archive'>;

export async function archiveWorkspace(ctx: Context, job: Archiving): Promise<void> {
  try {
    await archive(ctx, job);
  } catch (error) {
    if (error instanceof LostJob || job.signal.aborted || !(await putOff(ctx, job))) throw error;
    ctx.log.warn(
      { err: error, thread: job.payload.threadId },
      'a workspace could not be put away; it is tried again',
    );
  }
}

async function archive(ctx: Context, job: Archiving): Promise<void> {
  const { threadId } = job.payload;
  const thread = await ctx.db.selectFrom('threads').selectAll().where('id', '=', threadId).executeTakeFirst();
  if (!thread || !(await isDue(ctx, ctx.db, thread))) return;
  const unsaved =
    thread.workspace_status === 'ready' && !thread.deleted_at ? await save(ctx, job, thread) : null;
  if (unsaved === 'vanished') return vanished(ctx, job);
  if (!(await keep(ctx, job, unsaved)))
    return abandon(ctx, { org_id: thread.org_id, id: thread.project_id }, unsaved?.staged ?? null);
  const fault = await within(END_MS, ctx.runner.deleteWorkspace(threadId, job.claimedAt)).then(
    () => null,
    (error: unknown) => error as Error,
  );
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    const now = await lockThreadById(tx, threadId);
    if (!now || !['ready', 'cleanup_pending'].includes(now.thread.workspace_status ?? '')) return;
    const reason = now.thread.archived_at ? 'thread archived' : 'idle';
    const sourceId = await savedAs(tx, now.thread);
    if (!fault)
      await changeWorkspace(tx, now, 'archived', reason, {
        sourceId,
        change: { idle_expires_at: null, workspace_source_id: null },
      });
    else if (now.thread.workspace_status === 'ready')
      await changeWorkspace(tx, now, 'cleanup_pending', reason, { sourceId });
  });
  if (fault) throw fault;
}

/** Still wanted: archived, deleted, its end not confirmed; or without work beyond its deadline. */
async function isDue(ctx: Context, db: Context['db'] | Tx['db'], thread: ThreadRow): Promise<boolean> {
  if (thread.deleted_at || thread.archived_at || thread.workspace_status === 'cleanup_pending') return true;
  if (
    thread.workspace_status !== 'ready' ||
    !(await requireIdle({ db }, thread).then(
      () => true,
      () => false,
    ))
  )
    return false;
  return (
    (await db
      .selectFrom('threads')
      .select('id')
      .where('id', '=', thread.id)
      .where('idle_expires_at', '<=', databaseNow(ctx))
      .executeTakeFirst()) !== undefined
  );
}

async function save(ctx: Context, job: Archiving, thread: ThreadRow): Promise<Unsaved | null | 'vanished'> {
  try {
    await endTasks(ctx, job, thread.id);
    return await within(SAVE_MS, readUnsaved(ctx, thread));
  } catch (error) {
    if (isBeyondReading(error)) {
      ctx.log.warn({ err: error, thread: thread.id }, 'a workspace is put away as its last source has it');
      return null;
    }
    if (!(error instanceof RunnerError && error.status === 404)) throw error;
    // Its own runner has lost none: a worker before this one ended it, and died before that was recorded.
    const { id, pid } = await ctx.runner.status();
    return thread.runner_id === `${id}:${pid}` ? null : 'vanished';
  }
}

/** False where it is no longer to be put away: somebody works in it again. */
async function keep(ctx: Context, job: Archiving, unsaved: Unsaved | null): Promise<boolean> {
  return transaction(ctx, async (tx) => {
    await job.fence(tx);
    const now = await lockThreadById(tx, job.payload.threadId);
    if (!now) return true;
    if (!(await isDue(ctx, tx.db, now.thread))) return false;
    if (unsaved) await keepUnsaved(tx, now, unsaved);
    return true;
  });
}

async function vanished(ctx: Context, job: Archiving): Promise<void> {
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    const now = await lockThreadById(tx, job.payload.threadId);
    if (now?.thread.workspace_status === 'ready') await vanishWorkspace(tx, now);
  });
}

/** What was kept of it, by this attempt or one before it; the latest source where that was nothing. */
async function savedAs(
  tx: Tx,
  { workspace_source_id: at, latest_source_id: latest }: ThreadRow,
): Promise<string | null> {
  if (at === null || at === latest) return latest;
  const source = await tx.db.selectFrom('sources').select('origin').where('id', '=', at).executeTakeFirst();
  return source?.origin === 'recovery' ? at : latest;
}

/** False for a deleted thread: nothing works in it any more, so that the job itself may wait. */
async function putOff(ctx: Context, job: Archiving): Promise<boolean> {
  return transaction(ctx, async (tx) => {
    await job.fence(tx);
    const now = await lockThreadById(tx, job.payload.threadId);
    if (!now) return false;
    const seconds =
      Math.min(MAX_RETRY_SECONDS, 2 ** Math.min(now.thread.workspace_failures, 10)) *
      (0.75 + Math.random() / 2);
    const retryAt = sql<Date>`${databaseNow(ctx)} + ${seconds} * interval '1 second'`;
    await delayArchive(tx, now.thread.id, retryAt);
    return true;
  });
}

/** A job that failed too often: that of a deleted thread is never given up, others are found by the sweep. */
export async function archivingDied(ctx: Context, threadId: string): Promise<void> {
  await transaction(ctx, async (tx) => {
    if (!(await lockThreadById(tx, threadId))) await enqueueArchive(tx, threadId, AGAIN_SECONDS);
  });
}

/** Enqueues the end of a workspace under its thread's key. */
export async function enqueueArchive(tx: Tx, threadId: string, delaySeconds = 0): Promise<void> {
  await enqueue(tx, 'workspace.archive', { threadId }, { key: `thread:${threadId}`, delaySeconds });
}
