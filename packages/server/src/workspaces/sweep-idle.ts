import { databaseNow } from '../clock.ts';
import type { Context } from '../context.ts';
import { transaction } from '../db/transaction.ts';
import { enqueueUnlessWaiting } from '../jobs/enqueue.ts';
import { dueThreads } from './store.ts';

const BATCH = 100;

/** Enqueues the archiving of workspaces that are due. */
export async function sweepIdle(ctx: Context): Promise<void> {
  for (const thread of await dueThreads(ctx.db, databaseNow(ctx), BATCH))
    await transaction(ctx, (tx) =>
      enqueueUnlessWaiting(
        tx,
        'workspace.archive',
        { threadId: thread.id },
        { key: `thread:${thread.id}`, turnOf: thread },
      ),
    );
}
