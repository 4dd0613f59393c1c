import type { Context } from '../context.ts';
import { transaction } from '../db/transaction.ts';
import { every } from '../jobs/every.ts';
import { enqueueExecutions } from './enqueue.ts';
import { findForgotten } from './execution-store.ts';

const EVERY_MS = 30_000;
const BATCH = 500;

/**
 * Enqueues the missing jobs of executions that could begin or end: after a job that was lost, and after a change of
 * `overlap` that lets more of them begin. Safe in every process at once.
 */
export function reconcileExecutions(ctx: Context): void {
  every(
    EVERY_MS,
    () =>
      transaction(ctx, async (tx) => {
        await enqueueExecutions(tx, await findForgotten(tx, BATCH));
      }),
    {
      until: ctx.shutdown,
      onFailure: (err) => ctx.log.debug({ err }, 'executions were not reconciled'),
    },
  );
}
