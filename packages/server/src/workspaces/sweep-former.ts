import type { Context } from '../context.ts';
import { isGone } from '../runner/former-runners.ts';
import { endIdleTimes } from '../threads/index.ts';
import { hasWorkspaces } from './store.ts';

/**
 * Ends the idle time of workspaces at runners of older versions, so that the sweep saves them, and releases a
 * runner that holds nothing more.
 */
export async function sweepFormer(ctx: Context): Promise<void> {
  for (const former of ctx.formerRunners.list()) {
    try {
      await endIdleTimes(ctx.db, former.id);
      if ((await former.client.tasks()).length > 0 || (await hasWorkspaces(ctx.db, former.id))) continue;
    } catch (error) {
      if (!isGone(error)) throw error;
    }
    ctx.formerRunners.release(former);
    ctx.log.info({ runner: former.id }, 'the runner of an older version has nothing more to do');
  }
}
