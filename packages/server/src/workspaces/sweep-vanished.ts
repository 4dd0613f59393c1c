import { hostname } from 'node:os';
import type { Context } from '../context.ts';
import { transaction } from '../db/transaction.ts';
import { isLost } from '../runner/at-runner.ts';
import { runnerIdOf, runnerName } from '../runner/runner-id.ts';
import { lockThreadById } from '../threads/index.ts';
import { vanishWorkspace } from './change-workspace.ts';
import { forgetSizes, threadsAtLost, threadsAtUnknown, vanishedThreads } from './store.ts';

const BATCH = 100;

/**
 * Records that workspaces vanished with a runner that was replaced, or that the fleet has lost. An active run records
 * its own.
 */
export async function sweepVanished(ctx: Context): Promise<void> {
  if (ctx.fleet) return vanish(ctx, await threadsAtLost(ctx.db, BATCH), (id) => isLost(ctx, id));
  const known = runnerIdOf(ctx);
  if (!known) return;
  const former = () => ctx.formerRunners.list().map(({ id }) => id);
  const gone = await vanishedThreads(ctx.db, { live: [known, ...former()], host: hostname() }, BATCH);
  if (!gone.length) return;
  // Asks again: a newer runner may have made workspaces since the last status.
  const live = runnerName(ctx, await ctx.runner.status());
  await vanish(ctx, gone, async (id) => ![live, ...former()].includes(id ?? ''));
}

/**
 * As sweepVanished, of runners that the fleet does not know: from before there was one, or forgotten. What workspaces
 * took at runners that are gone counts for nothing.
 */
export async function sweepUnknown(ctx: Context): Promise<void> {
  await forgetSizes(ctx.db);
  await vanish(ctx, await threadsAtUnknown(ctx.db, BATCH), (id) => isLost(ctx, id));
}

async function vanish(
  ctx: Context,
  threadIds: string[],
  isGone: (runnerId: string | null) => Promise<boolean>,
): Promise<void> {
  for (const threadId of threadIds) {
    await transaction(ctx, async (tx) => {
      const now = await lockThreadById(tx, threadId);
      if (now?.thread.workspace_status === 'ready' && (await isGone(now.thread.runner_id)))
        await vanishWorkspace(tx, now);
    });
  }
}
