import type { Context } from '../context.ts';
import { transaction } from '../db/transaction.ts';
import { enqueue } from '../jobs/enqueue.ts';
import { every } from '../jobs/every.ts';
import type { When } from '../jobs/every.ts';
import { setupKey } from './need-setup.ts';
import { findEnded, findForgotten } from './store.ts';

const EVERY_MS = 1_000;
const BATCH = 100;

/**
 * Enqueues a job for setups under way that have none, since its attempts were used up. Removes the tasks of
 * ended setups that a runner still has. Safe in every process at once; `when`: for the rows, of which one process is enough.
 */
export function reconcileSetups(ctx: Context, when: When): void {
  const options = {
    until: ctx.shutdown,
    onFailure: (err: unknown) => ctx.log.debug({ err }, 'setups under way were not looked after'),
  };
  every(EVERY_MS, () => enqueueForgotten(ctx), { ...options, when });
  every(EVERY_MS, () => removeLeftOver(ctx), options);
}

async function enqueueForgotten(ctx: Context): Promise<void> {
  const forgotten = await findForgotten(ctx.db, BATCH);
  if (forgotten.length)
    await transaction(ctx, async (tx) => {
      for (const setup of forgotten)
        await enqueue(tx, 'setup.work', { setupId: setup.id }, { key: setupKey(setup.id), turnOf: setup });
    });
}

async function removeLeftOver(ctx: Context): Promise<void> {
  if (!ctx.runnerStatus()) return;
  const ids = (await ctx.runner.tasks()).filter((task) => task.kind === 'setup').map((task) => task.id);
  if (!ids.length) return;
  for (const id of await findEnded(ctx.db, ids)) await ctx.runner.deleteTask(id);
}
