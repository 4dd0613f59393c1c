import type { Context } from '../context.ts';
import type { ThreadRow } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import { loadTree } from '../sources/index.ts';
import type { Tree } from '../trees/tree.ts';
import { lockThreadById, setWorkspaceSource } from '../threads/index.ts';
import { awaitRunner, endTasks } from '../runner/await-runner.ts';
import type { Holder } from '../runner/await-runner.ts';
import { changeWorkspace } from './change-workspace.ts';
import { freshDeadline } from './idle.ts';
import { patchTar } from './patch-tar.ts';
import { restoreWorkspace } from './restore-workspace.ts';
import { isBeyondReading, keepUnsaved, readUnsaved } from './save-workspace.ts';

const EMPTY: Tree = new Map();

async function treeOf(ctx: Context, sourceId: string | null): Promise<Tree> {
  return sourceId === null ? EMPTY : loadTree(ctx, sourceId);
}

/**
 * Makes a thread's workspace hold its latest source: restored when it is gone, patched when it stands at
 * another source. The caller holds the thread's key, so nothing else touches the workspace. Returns the
 * thread as it stands; undefined when it was deleted or archived. Throws WorkspaceUnavailable, or what the
 * runner said.
 */
export async function prepareWorkspace(
  ctx: Context,
  job: Holder,
  threadId: string,
  reason: string,
  runId: string | null,
): Promise<ThreadRow | undefined> {
  const runnerId = await awaitRunner(ctx);
  const found = await ctx.db
    .selectFrom('threads')
    .selectAll()
    .where('id', '=', threadId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (!found || found.archived_at) return undefined;
  if (
    found.workspace_status === 'ready' &&
    found.runner_id === runnerId &&
    (await ctx.runner.workspaceExists(threadId))
  ) {
    try {
      return await bringToLatest(ctx, job, found);
    } catch (error) {
      if (!isBeyondReading(error)) throw error;
      await ctx.runner.deleteWorkspace(threadId, job.claimedAt); // its last saved source counts
    }
  }
  // The end that was not confirmed when it was put away.
  if (found.workspace_status === 'cleanup_pending') await ctx.runner.deleteWorkspace(threadId, job.claimedAt);
  const loaded = await beginRestore(ctx, job, threadId, reason, runId);
  if (!loaded) return undefined;
  await endTasks(ctx, job, threadId);
  await restoreWorkspace(ctx, job, loaded, loaded.latest_source_id);
  const restored = loaded.latest_source_id;
  return transaction(ctx, async (tx) => {
    await job.fence(tx);
    const now = await lockThreadById(tx, threadId);
    if (!now || now.thread.archived_at || now.thread.workspace_status !== 'preparing') return undefined;
    const deadline = await freshDeadline(ctx, tx.db, now.thread);
    return changeWorkspace(tx, now, 'ready', reason, {
      runId,
      sourceId: restored,
      change: {
        workspace_setup_status: 'ready',
        workspace_source_id: restored,
        runner_id: runnerId,
        idle_expires_at: deadline,
      },
    });
  });
}

/** … → preparing, by way of what became of it meanwhile. */
async function beginRestore(
  ctx: Context,
  job: Holder,
  threadId: string,
  reason: string,
  runId: string | null,
): Promise<ThreadRow | undefined> {
  return transaction(ctx, async (tx) => {
    await job.fence(tx);
    const now = await lockThreadById(tx, threadId);
    if (!now || now.thread.archived_at) return undefined;
    let { thread } = now;
    if (thread.workspace_status === 'cleanup_pending')
      thread = await changeWorkspace(tx, { ...now, thread }, 'archived', 'its end is confirmed', {
        sourceId: thread.latest_source_id,
      });
    if (thread.workspace_status === 'ready')
      thread = await changeWorkspace(tx, { ...now, thread }, 'error', 'the runtime vanished', { runId });
    if (thread.workspace_status !== 'preparing')
      thread = await changeWorkspace(tx, { ...now, thread }, 'preparing', reason, {
        runId,
        change: { workspace_setup_status: 'pending' },
      });
    return thread;
  });
}

/**
 * Patches a workspace that is there. Without a known source it was cut off in mid-work: what it holds is
 * kept first.
 */
async function bringToLatest(ctx: Context, job: Holder, thread: ThreadRow): Promise<ThreadRow> {
  await endTasks(ctx, job, thread.id);
  if (thread.workspace_source_id === thread.latest_source_id) return thread;
  if (thread.workspace_source_id !== null) return putBack(ctx, job, thread, thread.latest_source_id);
  const unsaved = await readUnsaved(ctx, thread);
  if (unsaved) {
    await transaction(ctx, async (tx) => {
      await job.fence(tx);
      const now = await lockThreadById(tx, thread.id);
      if (now) await keepUnsaved(tx, now, unsaved);
    });
  }
  return putBack(
    ctx,
    job,
    thread,
    thread.latest_source_id,
    unsaved?.tree ?? (await treeOf(ctx, thread.latest_source_id)),
  );
}

/**
 * Puts the source files of a workspace to `sourceId`: what differs from the source that it stands at is
 * written or deleted; ignored and dependency files stay. `present`: what was found in it, where that is no
 * source.
 */
export async function putBack(
  ctx: Context,
  job: Holder,
  thread: ThreadRow,
  sourceId: string | null,
  present?: Tree,
): Promise<ThreadRow> {
  const [from, to] = [
    present ?? (await treeOf(ctx, thread.workspace_source_id)),
    await treeOf(ctx, sourceId),
  ];
  await ctx.runner.patch(thread.id, await patchTar(ctx, thread.project_id, from, to), job.claimedAt);
  return noteStand(ctx, job, thread.id, sourceId);
}

/** The source that the workspace stands at; null while it holds none, or nobody knows. */
export async function noteStand(
  ctx: Context,
  job: Holder,
  threadId: string,
  sourceId: string | null,
): Promise<ThreadRow> {
  return transaction(ctx, async (tx) => {
    await job.fence(tx);
    return setWorkspaceSource(tx, threadId, sourceId);
  });
}
