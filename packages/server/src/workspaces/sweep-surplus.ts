import { databaseNow } from '../clock.ts';
import type { Context } from '../context.ts';
import { expireIdle } from '../threads/index.ts';
import { recordSizes, surplusWorkspaces } from './store.ts';

const BATCH = 100;

/**
 * Ends the idle time of workspaces where an organization's take more bytes than the operator lets it have:
 * the next sweep saves them and puts them away.
 */
export async function sweepSurplus(ctx: Context, bound: number): Promise<void> {
  // Those of a fleet are in its runners' reports.
  const runner = ctx.fleet ? null : ctx.runnerStatus();
  if (runner) await recordSizes(ctx.db, [{ runnerId: runner.id, sizes: await ctx.runner.workspaceSizes() }]);
  const surplus = await surplusWorkspaces(ctx.db, bound, BATCH);
  if (surplus.length) await expireIdle(ctx.db, surplus, databaseNow(ctx));
}
