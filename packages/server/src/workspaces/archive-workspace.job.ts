/**
 * Saves a workspace and ends its runtime: its idle time is over, or its thread was archived or deleted. What stands in it and in no
 * source becomes a `recovery` source with a checkpoint first; where that fails the workspace stays and the job is tried again.
 *
 *   due? --> save (outside of a transaction) --> still due? kept --> runtime ended --> archived | cleanup_pending (tried again)
 */
import { RunnerError } from '@headrace/runner/client';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { ThreadRow } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { enqueue } from '../jobs/enqueue.ts';
import type { Job } from '../jobs/worker.ts';
import { lockThreadById, requireIdle } from '../threads/index.ts';
import { endTasks } from './await-runner.ts';
import { changeWorkspace } from './change-workspace.ts';
import { keepUnsaved, readUnsaved } from './save-workspace.ts';
import type { Unsaved } from './save-workspace.ts';

const AGAIN_SECONDS = 30;

export async function archiveWorkspace(ctx: Context, job: Job<'workspace.archive'>): Promise<void> {
  const { threadId } = job.payload;
  const thread = await ctx.db.selectFrom('threads').selectAll().where('id', '=', threadId).executeTakeFirst();
  if (!thread || !await isDue(ctx, thread)) return;
  const unsaved = thread.workspace_status === 'ready' && !thread.deleted_at ? await save(ctx, thread) : null;
  const decision = await transaction(ctx, async (tx) => {
    await job.fence(tx);
    const now = await lockThreadById(tx, threadId);
    if (!now) return { isStillDue: true, savedId: null };
    if (!await isDueIn(tx, now.thread)) return { isStillDue: false, savedId: null };
    return { isStillDue: true, savedId: unsaved ? await keepUnsaved(tx, now, unsaved) : null };
  });
  if (!decision.isStillDue) return;
  const end = await ctx.runner.deleteWorkspace(threadId).then(() => null, (error: Error) => error);
  // Of a deleted thread nothing is recorded any more: the job itself has to see the end.
  if (end && thread.deleted_at) throw end;
  if (end) ctx.log.warn({ err: end, thread: threadId }, 'the end of a workspace is not confirmed');
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    const now = await lockThreadById(tx, threadId);
    if (!now || !['ready', 'cleanup_pending'].includes(now.thread.workspace_status ?? '')) return;
    const reason = now.thread.archived_at ? 'thread archived' : 'idle';
    const sourceId = decision.savedId ?? now.thread.latest_source_id;
    if (!end) await changeWorkspace(tx, now, 'archived', reason, { sourceId, change: { idle_expires_at: null, workspace_source_id: null } });
    else if (now.thread.workspace_status === 'ready') await changeWorkspace(tx, now, 'cleanup_pending', reason, { sourceId });
  });
}

/** A job that failed too often: saving is never given up, it is tried more seldom. */
export async function archivingDied(ctx: Context, threadId: string): Promise<void> {
  await transaction(ctx, (tx) => enqueue(tx, 'workspace.archive', { threadId }, { key: `thread:${threadId}`, delaySeconds: AGAIN_SECONDS }));
}

/** Still wanted: archived, deleted, or idle beyond its deadline. */
async function isDue(ctx: Context, thread: ThreadRow): Promise<boolean> {
  if (thread.deleted_at || thread.archived_at) return true;
  if (thread.workspace_status === 'cleanup_pending') return true;
  return thread.workspace_status === 'ready' && await isBeyondDeadline(ctx.db, thread.id);
}

async function isDueIn(tx: Tx, thread: ThreadRow): Promise<boolean> {
  if (thread.archived_at || thread.workspace_status === 'cleanup_pending') return true;
  return await requireIdle(tx, thread).then(() => true, () => false) && await isBeyondDeadline(tx.db, thread.id);
}

async function isBeyondDeadline(db: Context['db'] | Tx['db'], threadId: string): Promise<boolean> {
  return (await db.selectFrom('threads').select('id').where('id', '=', threadId).where('idle_expires_at', '<=', sql<Date>`now()`).executeTakeFirst()) !== undefined;
}

async function save(ctx: Context, thread: ThreadRow): Promise<Unsaved | null> {
  try {
    await endTasks(ctx, thread.id);
    return await readUnsaved(ctx, thread);
  } catch (error) {
    // The runner that held it is gone, and the files with it: the last saved source counts.
    if (error instanceof RunnerError && error.status === 404) return null;
    throw error;
  }
}

/** Enqueues the end of a workspace under its thread's key. */
export async function enqueueArchive(tx: Tx, threadId: string): Promise<void> {
  await enqueue(tx, 'workspace.archive', { threadId }, { key: `thread:${threadId}` });
}
