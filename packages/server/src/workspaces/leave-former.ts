import type { Context } from '../context.ts';
import type { ThreadRow } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import { atRunner, isLost } from '../runner/at-runner.ts';
import { endTasks } from '../runner/await-runner.ts';
import type { Holder } from '../runner/await-runner.ts';
import { lockThreadById } from '../threads/index.ts';
import { changeWorkspace } from './change-workspace.ts';
import { isBeyondReading, keepUnsaved, readUnsaved } from './save-workspace.ts';

/**
 * The context of the other runner that has a thread's workspace, one of an older version or another one of the fleet;
 * undefined where none has it that can be asked. Throws where one does not say.
 */
export async function formerPlace(ctx: Context, thread: ThreadRow): Promise<Context | undefined> {
  const { id, runner_id: runnerId } = thread;
  if (ctx.fleet) {
    if (runnerId === null || runnerId === ctx.at?.id || (await isLost(ctx, runnerId))) return undefined;
    const other = await atRunner(ctx, runnerId);
    return (await other.runner.workspaceExists(id)) ? other : undefined;
  }
  const former = ctx.formerRunners.list().find((one) => one.id === runnerId);
  return former !== undefined && (await ctx.runner.workspaceExists(id)) ? ctx : undefined;
}

/**
 * Saves what is in no source of a workspace at its former runner, whose context this is, and ends it there. The caller
 * holds the thread's key, and makes the workspace at another runner.
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
        reason: ctx.fleet ? 'it moves to another runner' : 'its runner is of an older version',
        sourceId: now.thread.latest_source_id,
        change: { idle_expires_at: null, workspace_source_id: null },
      });
  });
}
