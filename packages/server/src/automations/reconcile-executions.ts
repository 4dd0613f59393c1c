import type { Context } from '../context.ts';
import { transaction } from '../db/transaction.ts';
import { every } from '../jobs/every.ts';
import type { When } from '../jobs/every.ts';
import { enqueueExecutions } from './enqueue.ts';
import { findForgotten } from './execution-store.ts';

const EVERY_MS = 30_000;
const BATCH = 500;

/**
 * Enqueues missing jobs of executions that could begin or end: after a lost job, and after a change of `overlap` that
 * allows more of them. Several processes may run it at the same time.
 */
export function reconcileExecutions(ctx: Context, when: When): void {
  every(
    EVERY_MS,
    () =>
      transaction(ctx, async (tx) => {
        await enqueueExecutions(tx, await findForgotten(tx, BATCH));
      }),
    {
      when,
      until: ctx.shutdown,
      onFailure: (err) => ctx.log.debug({ err }, 'executions were not reconciled'),
    },
  );
}
