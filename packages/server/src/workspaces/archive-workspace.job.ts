/**
 * Saves a workspace and ends its runtime: its idle time is over, or its thread was archived or deleted.
 * Files that are in no source become a `recovery` source with a checkpoint first; where that fails, the
 * workspace stays.
 *
 *   due? --> read (outside of a transaction) --> still due? saved --> runtime ended --> archived |
 *   cleanup_pending
 *
 * A failed attempt is repeated, the first time after a second, later at most every minute. The sweep
 * enqueues it when the thread's row says so. The job itself does not wait: it would keep the thread's key,
 * and a message must not wait for that.
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
import { isLost } from '../runner/at-runner.ts';
import { endTasks } from '../runner/await-runner.ts';
import { runnerName } from '../runner/runner-id.ts';
import { abandon } from '../sources/index.ts';
import { delayArchive, isIdle, lockThreadById } from '../threads/index.ts';
import { isLeftToHost, readAtHost } from './archive-at-host.ts';
import { changeWorkspace, vanishWorkspace } from './change-workspace.ts';
import { atThread } from './place-thread.ts';
import { isBeyondReading, keepUnsaved, readUnsaved } from './save-workspace.ts';
import type { Unsaved } from './save-workspace.ts';
import { isOfOtherHost } from './store.ts';

const AGAIN_SECONDS = 30;
const MAX_RETRY_SECONDS = 60;
const SAVE_MS = 5 * 60_000;
const END_MS = 60_000;

type ArchiveJob = Job<'workspace.archive'>;

export async function archiveWorkspace(ctx: Context, job: ArchiveJob): Promise<void> {
  try {
    await archive(await atThread(ctx, job.payload.threadId), job);
  } catch (error) {
    if (error instanceof LostJob || job.signal.aborted || !(await retryLater(ctx, job))) throw error;
    ctx.log.warn(
      { err: error, thread: job.payload.threadId },
      'a workspace could not be put away; it is tried again',
    );
  }
}

async function archive(ctx: Context, job: ArchiveJob): Promise<void> {
  const { threadId } = job.payload;
  const thread = await ctx.db.selectFrom('threads').selectAll().where('id', '=', threadId).executeTakeFirst();
  if (!thread || !(await isDue(ctx, ctx.db, thread))) return;
  const isThere =
    thread.workspace_status === 'ready' ||
    (ctx.host !== null && thread.workspace_status === 'cleanup_pending');
  const isKept = isThere && !thread.deleted_at;
  if (isKept && (await isLost(ctx, thread.runner_id))) return recordVanished(ctx, job);
  const unsaved = isKept ? await (ctx.host ? readAtHost(ctx, thread) : read(ctx, job, thread)) : null;
  if (unsaved === 'away') return waitForHost(ctx, job);
  if (unsaved === 'vanished') return recordVanished(ctx, job);
  if (!(await save(ctx, job, unsaved)))
    return abandon(ctx, { org_id: thread.org_id, id: thread.project_id }, unsaved?.source?.staged ?? null);
  const fault = await endRuntime(ctx, job, thread);
  await recordEnd(ctx, job, fault ? 'unconfirmed' : 'confirmed');
  if (fault) throw fault;
}

/**
 * Whether the workspace is still to be archived: its thread was archived or deleted, its end is not
 * confirmed, or it is idle beyond its deadline.
 */
async function isDue(ctx: Context, db: Context['db'] | Tx['db'], thread: ThreadRow): Promise<boolean> {
  if (thread.deleted_at || thread.archived_at || thread.workspace_status === 'cleanup_pending') return true;
  if (thread.workspace_status !== 'ready' || !(await isIdle(db, thread))) return false;
  const overdue = await db
    .selectFrom('threads')
    .select('id')
    .where('id', '=', thread.id)
    .where('idle_expires_at', '<=', databaseNow(ctx))
    .executeTakeFirst();
  return overdue !== undefined;
}

/** Ends the workspace's tasks and reads what is in no source. */
async function read(ctx: Context, job: ArchiveJob, thread: ThreadRow): Promise<Unsaved | null | 'vanished'> {
  try {
    await endTasks(ctx, job, thread.id);
    return await within(SAVE_MS, readUnsaved(ctx, thread));
  } catch (error) {
    if (isBeyondReading(error)) {
      ctx.log.warn({ err: error, thread: thread.id }, 'a workspace is put away as its last source has it');
      return null;
    }
    if (!(error instanceof RunnerError && error.status === 404)) throw error;
    // A runner loses no workspace. Where it is the thread's own, an earlier worker ended the workspace and
    // died before it recorded that.
    const own = runnerName(ctx, await ctx.runner.status());
    if (thread.runner_id === own) return null;
    // Its own worker saves it.
    if (thread.runner_id !== null && (await isOfOtherHost(ctx.db, thread.runner_id, own))) throw error;
    return 'vanished';
  }
}

/** Returns false where the workspace is no longer due: it is in use again. */
async function save(ctx: Context, job: ArchiveJob, unsaved: Unsaved | null): Promise<boolean> {
  return transaction(ctx, async (tx) => {
    await job.fence(tx);
    const now = await lockThreadById(tx, job.payload.threadId);
    if (!now) return true;
    if (!(await isDue(ctx, tx.db, now.thread))) return false;
    if (unsaved) await keepUnsaved(tx, now, unsaved);
    return true;
  });
}

async function recordVanished(ctx: Context, job: ArchiveJob): Promise<void> {
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    const now = await lockThreadById(tx, job.payload.threadId);
    if (now?.thread.workspace_status === 'ready') await vanishWorkspace(tx, now);
  });
}

/** Returns why the end is not confirmed; null when it is. */
async function endRuntime(ctx: Context, job: ArchiveJob, thread: ThreadRow): Promise<Error | null> {
  return within(END_MS, ctx.runner.deleteWorkspace(job.payload.threadId, job.claimedAt)).then(
    () => null,
    (error: unknown) => (isLeftToHost(ctx, thread, error) ? null : (error as Error)),
  );
}

/** It waits for its host; the sweep tries again. */
async function waitForHost(ctx: Context, job: ArchiveJob): Promise<void> {
  await recordEnd(ctx, job, 'unconfirmed');
  await retryLater(ctx, job);
}

async function recordEnd(ctx: Context, job: ArchiveJob, end: 'confirmed' | 'unconfirmed'): Promise<void> {
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    const now = await lockThreadById(tx, job.payload.threadId);
    if (now?.thread.workspace_status !== 'ready' && now?.thread.workspace_status !== 'cleanup_pending')
      return;
    const reason = now.thread.archived_at ? 'thread archived' : 'idle';
    const sourceId = await savedAs(tx, now.thread);
    if (end === 'confirmed')
      await changeWorkspace(tx, now, {
        event: 'archive',
        reason,
        sourceId,
        change: { idle_expires_at: null, workspace_source_id: null },
      });
    else if (now.thread.workspace_status === 'ready')
      await changeWorkspace(tx, now, { event: 'detach', reason, sourceId });
  });
}

/** The source that this attempt or an earlier one saved; the latest source where nothing was saved. */
async function savedAs(
  tx: Tx,
  { workspace_source_id: at, latest_source_id: latest }: ThreadRow,
): Promise<string | null> {
  if (at === null || at === latest) return latest;
  const source = await tx.db.selectFrom('sources').select('origin').where('id', '=', at).executeTakeFirst();
  return source?.origin === 'recovery' ? at : latest;
}

/** Returns false for a deleted thread: nothing works in it any more, so the job itself may wait. */
async function retryLater(ctx: Context, job: ArchiveJob): Promise<boolean> {
  return transaction(ctx, async (tx) => {
    await job.fence(tx);
    const now = await lockThreadById(tx, job.payload.threadId);
    if (!now) return false;
    const backoff = Math.min(MAX_RETRY_SECONDS, 2 ** Math.min(now.thread.workspace_failures, 10));
    const seconds = backoff * (0.75 + Math.random() / 2);
    const retryAt = sql<Date>`${databaseNow(ctx)} + ${seconds} * interval '1 second'`;
    await delayArchive(tx, now.thread.id, retryAt);
    return true;
  });
}

/** A job that failed too often. For a deleted thread it is enqueued again; the sweep finds all others. */
export async function archivingDied(ctx: Context, threadId: string): Promise<void> {
  await transaction(ctx, async (tx) => {
    if (await lockThreadById(tx, threadId)) return;
    const deleted = await tx.db
      .selectFrom('threads')
      .select(['id', 'org_id', 'project_id'])
      .where('id', '=', threadId)
      .executeTakeFirst();
    if (deleted) await enqueueArchive(tx, deleted, AGAIN_SECONDS);
  });
}

/** Enqueues the end of a workspace under its thread's key. */
export async function enqueueArchive(
  tx: Tx,
  thread: Pick<ThreadRow, 'id' | 'org_id' | 'project_id'>,
  delaySeconds = 0,
): Promise<void> {
  await enqueue(
    tx,
    'workspace.archive',
    { threadId: thread.id },
    { key: `thread:${thread.id}`, turnOf: thread, delaySeconds },
  );
}
