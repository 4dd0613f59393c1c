import type { Context } from '../context.ts';
import type { ThreadRow } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import { endTasks } from '../runner/await-runner.ts';
import type { Holder } from '../runner/await-runner.ts';
import { lockThreadById } from '../threads/index.ts';
import { changeWorkspace } from './change-workspace.ts';
import { isBeyondReading, keepUnsaved, readUnsaved } from './save-workspace.ts';

/** Whether a thread's workspace lives at a runner of an older version. */
export async function isAtFormer(ctx: Context, { id, runner_id: runnerId }: ThreadRow): Promise<boolean> {
  const former = ctx.formerRunners.list().find((one) => one.id === runnerId);
  return former !== undefined && (await ctx.runner.workspaceExists(id));
}

/**
 * Saves what is in no source of a workspace at a runner of an older version, and ends it there. The caller
 * holds the thread's key, and makes the workspace at the current runner.
 */
export async function leaveFormer(ctx: Context, job: Holder, thread: ThreadRow): Promise<void> {
  await endTasks(ctx, job, thread.id);
  const unsaved = await readUnsaved(ctx, thread).catch((error: unknown) => {
    // Its last saved source counts.
    if (isBeyondReading(error)) return null;
    throw error;
  });
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    const now = await lockThreadById(tx, thread.id);
    if (now && unsaved) await keepUnsaved(tx, now, unsaved);
  });
  await ctx.runner.deleteWorkspace(thread.id, job.claimedAt);
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    const now = await lockThreadById(tx, thread.id);
    if (now?.thread.workspace_status === 'ready')
      await changeWorkspace(tx, now, {
        event: 'archive',
        reason: 'its runner is of an older version',
        sourceId: now.thread.latest_source_id,
        change: { idle_expires_at: null, workspace_source_id: null },
      });
  });
}
