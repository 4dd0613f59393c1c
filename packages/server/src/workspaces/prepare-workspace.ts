import type { Context } from '../context.ts';
import type { ThreadRow } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import { loadTree, tarOf } from '../sources/index.ts';
import type { Tree } from '../sources/index.ts';
import { lockThreadById } from '../threads/index.ts';
import { changeWorkspace } from './change-workspace.ts';
import { freshDeadline } from './idle.ts';
import { patchTar } from './patch-tar.ts';

/** No sandbox can hold the workspace now: `source_workspace_unavailable` for a caller, `workspace_unavailable` on a run. */
export class WorkspaceUnavailable extends Error {}

export function requireRunner(ctx: Context): void {
  const status = ctx.runnerStatus();
  if (!status) throw new WorkspaceUnavailable('No runner answers. Try again in a moment.');
  if (!status.ok) throw new WorkspaceUnavailable(`No sandbox can be made here: ${status.missing.join('; ')}`);
}

export const runnerIdOf = (ctx: Context) => { const status = ctx.runnerStatus(); return status ? `${status.id}:${status.pid}` : null; };

const EMPTY: Tree = new Map();

async function treeOf(ctx: Context, sourceId: string | null): Promise<Tree> {
  return sourceId === null ? EMPTY : loadTree(ctx, sourceId);
}

/**
 * Makes a thread's workspace hold its latest source: restored when it is gone, patched when it stands at another source. The caller
 * holds the thread's key, so nothing else touches the workspace. Returns the thread as it stands; undefined when it was deleted or archived.
 * Throws WorkspaceUnavailable, or what the runner said.
 */
export async function prepareWorkspace(ctx: Context, threadId: string, reason: string, runId: string | null): Promise<ThreadRow | undefined> {
  requireRunner(ctx);
  const runnerId = runnerIdOf(ctx);
  let loaded = await ctx.db.selectFrom('threads').selectAll().where('id', '=', threadId).where('deleted_at', 'is', null).executeTakeFirst();
  if (!loaded || loaded.archived_at) return undefined;
  if (loaded.workspace_status === 'ready' && loaded.runner_id === runnerId && await ctx.runner.workspaceExists(threadId)) {
    return loaded.workspace_source_id === loaded.latest_source_id ? loaded : putBack(ctx, loaded, loaded.latest_source_id);
  }
  loaded = await transaction(ctx, async (tx) => {
    const now = await lockThreadById(tx, threadId);
    if (!now || now.thread.archived_at) return undefined;
    let { thread } = now;
    if (thread.workspace_status === 'ready') thread = await changeWorkspace(tx, { ...now, thread }, 'error', 'the runtime vanished', { runId });
    if (thread.workspace_status !== 'preparing') thread = await changeWorkspace(tx, { ...now, thread }, 'preparing', reason, { runId, change: { workspace_setup_status: 'pending' } });
    return thread;
  });
  if (!loaded) return undefined;
  await ctx.runner.putWorkspace(threadId, tarOf(ctx, loaded.project_id, await treeOf(ctx, loaded.latest_source_id)));
  const restored = loaded.latest_source_id;
  return transaction(ctx, async (tx) => {
    const now = await lockThreadById(tx, threadId);
    if (!now || now.thread.archived_at || now.thread.workspace_status !== 'preparing') return undefined;
    const deadline = await freshDeadline(tx.db, now.thread, ctx.config.idleTimeoutMinutes);
    return changeWorkspace(tx, now, 'ready', reason, { runId, sourceId: restored, change: { workspace_setup_status: 'ready', workspace_source_id: restored, runner_id: runnerId, idle_expires_at: deadline } });
  });
}

/**
 * Puts the source files of a workspace to `sourceId`: what differs from the source that it stands at is written or deleted; ignored and
 * dependency files stay. `present`: what was found in it, where that is no source.
 */
export async function putBack(ctx: Context, thread: ThreadRow, sourceId: string | null, present?: Tree): Promise<ThreadRow> {
  const [from, to] = [present ?? await treeOf(ctx, thread.workspace_source_id), await treeOf(ctx, sourceId)];
  await ctx.runner.patch(thread.id, await patchTar(ctx, thread.project_id, from, to));
  return ctx.db.updateTable('threads').set({ workspace_source_id: sourceId }).where('id', '=', thread.id).returningAll().executeTakeFirstOrThrow();
}
