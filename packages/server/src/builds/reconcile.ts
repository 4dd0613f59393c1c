import type { Context } from '../context.ts';
import { transaction } from '../db/transaction.ts';
import { enqueue } from '../jobs/enqueue.ts';
import { every } from '../jobs/every.ts';
import type { When } from '../jobs/every.ts';
import { findEnded, findForgotten } from './store.ts';

const EVERY_MS = 1_000;
const BATCH = 100;

/** One job at a time works on a build. */
export const buildKey = (buildId: string) => `build:${buildId}`;

/**
 * Enqueues a job for open builds that have none, since its attempts were used up: a build ends by its own
 * row, however many jobs that takes. Removes the tasks of ended builds that a runner still has, such as one
 * whose start was answered too late. Safe in every process at once; `when`: for the rows, of which one process is enough.
 */
export function reconcileBuilds(ctx: Context, when: When): void {
  const options = {
    until: ctx.shutdown,
    onFailure: (err: unknown) => ctx.log.debug({ err }, 'open builds were not looked after'),
  };
  every(EVERY_MS, () => enqueueForgotten(ctx), { ...options, when });
  every(EVERY_MS, () => removeLeftOver(ctx), options);
}

async function enqueueForgotten(ctx: Context): Promise<void> {
  const forgotten = await findForgotten(ctx.db, BATCH);
  if (forgotten.length)
    await transaction(ctx, async (tx) => {
      for (const build of forgotten)
        await enqueue(tx, 'build.work', { buildId: build.id }, { key: buildKey(build.id), turnOf: build });
    });
}

async function removeLeftOver(ctx: Context): Promise<void> {
  if (!ctx.runnerStatus()) return;
  const ids = (await ctx.runner.tasks()).filter((task) => task.kind === 'build').map((task) => task.id);
  if (!ids.length) return;
  for (const id of await findEnded(ctx.db, ids)) await ctx.runner.deleteTask(id);
}
