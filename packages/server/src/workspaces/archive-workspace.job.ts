/**
 * Saves a workspace and ends its runtime: its idle time is over, or its thread was archived or deleted. What stands in it and in no
 * source becomes a `recovery` source with a checkpoint first; where that fails the workspace stays and the job is tried again.
 */
import { RunnerError } from '@headrace/runner/client';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { ThreadRow } from '../db/schema.ts';
import { appendEvent, transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { newId } from '../ids.ts';
import { enqueue } from '../jobs/enqueue.ts';
import type { Job } from '../jobs/worker.ts';
import { scopeOf } from '../projects/index.ts';
import { insertSource } from '../sources/index.ts';
import type { Staged, Tree } from '../sources/index.ts';
import { lockThreadById, requireIdle } from '../threads/index.ts';
import { captureWorkspace, stageCapture } from './capture-workspace.ts';
import { changeWorkspace } from './change-workspace.ts';

export async function archiveWorkspace(ctx: Context, job: Job<'workspace.archive'>): Promise<void> {
  const { threadId } = job.payload;
  const thread = await ctx.db.selectFrom('threads').selectAll().where('id', '=', threadId).executeTakeFirst();
  if (!thread || !await isDue(ctx, thread)) return;
  const saved = thread.workspace_status === 'ready' && !thread.deleted_at ? await save(ctx, thread) : null;
  const isStillDue = await transaction(ctx, async (tx) => {
    await job.fence(tx);
    const now = await lockThreadById(tx, threadId);
    if (!now) return true;
    if (!await isDueIn(tx, now.thread)) return false;
    if (saved) await keep(tx, now, saved);
    return true;
  });
  if (!isStillDue) return;
  const isGone = await ctx.runner.deleteWorkspace(threadId).then(() => true, (err: unknown) => { ctx.log.warn({ err, thread: threadId }, 'the end of a workspace is not confirmed'); return false; });
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    const now = await lockThreadById(tx, threadId);
    if (!now || !['ready', 'cleanup_pending'].includes(now.thread.workspace_status ?? '')) return;
    const reason = now.thread.archived_at ? 'thread archived' : 'idle';
    const sourceId = saved ? await newestRecovery(tx, threadId) : now.thread.latest_source_id;
    if (isGone) await changeWorkspace(tx, now, 'archived', reason, { sourceId, change: { idle_expires_at: null, workspace_source_id: null } });
    else if (now.thread.workspace_status === 'ready') await changeWorkspace(tx, now, 'cleanup_pending', reason, { sourceId });
  });
}

async function newestRecovery(tx: Tx, threadId: string): Promise<string | null> {
  return (await tx.db.selectFrom('checkpoints').select('source_id').where('thread_id', '=', threadId).where('kind', '=', 'recovery').orderBy('id', 'desc').limit(1).executeTakeFirst())?.source_id ?? null;
}

/** Still wanted: archived, deleted, or idle beyond its deadline. */
async function isDue(ctx: Context, thread: ThreadRow): Promise<boolean> {
  if (thread.deleted_at || thread.archived_at) return true;
  if (thread.workspace_status === 'cleanup_pending') return true;
  return thread.workspace_status === 'ready' && thread.idle_expires_at !== null && (await ctx.db.selectFrom('threads').select('id').where('id', '=', thread.id).where('idle_expires_at', '<=', sql<Date>`now()`).executeTakeFirst()) !== undefined;
}

async function isDueIn(tx: Tx, thread: ThreadRow): Promise<boolean> {
  if (thread.archived_at || thread.workspace_status === 'cleanup_pending') return true;
  const isIdle = await requireIdle(tx, thread).then(() => true, () => false);
  return isIdle && (await tx.db.selectFrom('threads').select('id').where('id', '=', thread.id).where('idle_expires_at', '<=', sql<Date>`now()`).executeTakeFirst()) !== undefined;
}

type Saved = { tree: Tree; staged: Staged };

/** Files that stand in no source: of a run that an archive cut off, or of a process that outlived its command. */
async function save(ctx: Context, thread: ThreadRow): Promise<Saved | null> {
  try {
    const capture = await captureWorkspace(ctx, thread, thread.workspace_source_id);
    if (capture.isUnchanged || capture.fault) return null;
    return { tree: capture.tree, staged: await stageCapture(ctx, thread, capture, thread.workspace_source_id) };
  } catch (error) {
    // The runner that held it is gone, and the files with it: the last saved source counts.
    if (error instanceof RunnerError && error.status === 404) return null;
    throw error;
  }
}

async function keep(tx: Tx, { thread, project }: NonNullable<Awaited<ReturnType<typeof lockThreadById>>>, saved: Saved): Promise<void> {
  const parents = thread.workspace_source_id === null ? [] : [thread.workspace_source_id];
  const source = await insertSource(tx, project, { tree: saved.tree, parents, origin: 'recovery', threadId: thread.id, runId: null, message: null, staged: saved.staged });
  const checkpoint = newId('chk');
  await tx.db.insertInto('checkpoints').values({ org_id: thread.org_id, id: checkpoint, thread_id: thread.id, source_id: source.id, kind: 'recovery' }).execute();
  appendEvent(tx, scopeOf(project), 'checkpoint.created', { id: checkpoint }, { threadId: thread.id });
}

/** Enqueues the end of a workspace under its thread's key. */
export async function enqueueArchive(tx: Tx, threadId: string): Promise<void> {
  await enqueue(tx, 'workspace.archive', { threadId }, { key: `thread:${threadId}` });
}
