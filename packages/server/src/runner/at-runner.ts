import type { Context } from '../context.ts';
import type { AtRunner, Fleet } from './fleet.ts';

declare module '../context.ts' {
  interface Context {
    /** The runners that register here; null where this host has one of its own. */
    fleet: Fleet | null;
    /** The runner of the fleet that `runner` and `runnerStatus` are of; null where they are of none, or of this host's. */
    at: AtRunner | null;
  }
}

/**
 * The context of work at the runner that a row names: its `runner` is that one. Without a fleet it is this host's, as
 * always. Null, for work that has no runner yet, changes nothing: a fleet's context that is at no runner calls none.
 */
export async function atRunner(ctx: Context, runnerId: string | null): Promise<Context> {
  if (!ctx.fleet || runnerId === null) return ctx;
  const at = await ctx.fleet.find(runnerId);
  return { ...ctx, runner: at.client, runnerStatus: () => at.status(), at };
}

/**
 * Whether what was at a runner is given up: it is lost, or gone. Always false without a fleet, where a runner that
 * does not answer is started again.
 */
export async function isLost(ctx: Pick<Context, 'fleet'>, runnerId: string | null): Promise<boolean> {
  if (!ctx.fleet || runnerId === null) return false;
  const state = (await ctx.fleet.findNow(runnerId)).state();
  return state === 'lost' || state === 'gone';
}
