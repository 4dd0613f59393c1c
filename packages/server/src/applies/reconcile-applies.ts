import type { Context } from '../context.ts';
import { transaction } from '../db/transaction.ts';
import { every } from '../jobs/every.ts';
import type { When } from '../jobs/every.ts';
import { cancelRuns } from '../runs/index.ts';
import { changeThread } from '../threads/index.ts';
import { lockProjectAndThread } from './policy.ts';
import { overdueRepairs, stalledQueues } from './store.ts';
import { wakeQueue } from './wake-queue.ts';

const EVERY_MS = 1_000;
const BATCH = 100;

/**
 * Ends repairs whose time is over, and enqueues the missing jobs of projects with queued applies: after a
 * job that failed too often, and after a repair that another operation ended. Safe in every process at once.
 */
export function reconcileApplies(ctx: Context, when: When): void {
  every(EVERY_MS, () => endOverdue(ctx).then(() => enqueueMissing(ctx)), {
    when,
    until: ctx.shutdown,
    onFailure: (err) => ctx.log.debug({ err }, 'applies were not reconciled'),
  });
}

/** The run ends in these rows, wherever its worker is: that worker notices and kills the sandbox. */
async function endOverdue(ctx: Context): Promise<void> {
  for (const overdue of await overdueRepairs(ctx.db, BATCH)) {
    await transaction(ctx, async (tx) => {
      const loaded = await lockProjectAndThread(tx, overdue.project_id, overdue.thread_id);
      if (loaded?.thread.active_apply_id !== overdue.id) return;
      if (!(await cancelRuns(tx, loaded, 'all')).length) return;
      await changeThread(tx, loaded, {}, 'always');
      await wakeQueue(tx, overdue);
    });
  }
}

async function enqueueMissing(ctx: Context): Promise<void> {
  for (const queue of await stalledQueues(ctx.db, BATCH))
    await transaction(ctx, (tx) => wakeQueue(tx, queue));
}
