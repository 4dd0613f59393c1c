import type { Context } from '../context.ts';
import { transaction } from '../db/transaction.ts';
import { runnerIdOf } from '../runner/runner-id.ts';
import { lockThreadById } from '../threads/index.ts';
import { vanishWorkspace } from './change-workspace.ts';
import { vanishedThreads } from './store.ts';

const BATCH = 100;

/** Records that workspaces vanished with a runner that was replaced. An active run records its own. */
export async function sweepVanished(ctx: Context): Promise<void> {
  const known = runnerIdOf(ctx);
  if (!known) return;
  const former = () => ctx.formerRunners.list().map(({ id }) => id);
  const gone = await vanishedThreads(ctx.db, [known, ...former()], BATCH);
  if (!gone.length) return;
  // Asks again: a newer runner may have made workspaces since the last status.
  const live = await ctx.runner.status();
  const runnerIds: (string | null)[] = [`${live.id}:${live.pid}`, ...former()];
  for (const threadId of gone) {
    await transaction(ctx, async (tx) => {
      const now = await lockThreadById(tx, threadId);
      if (now?.thread.workspace_status === 'ready' && !runnerIds.includes(now.thread.runner_id))
        await vanishWorkspace(tx, now);
    });
  }
}
