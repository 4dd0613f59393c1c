import type { Tx } from '../db/transaction.ts';
import { enqueueUnlessWaiting } from '../jobs/enqueue.ts';

/** Enqueues the project's merge job, unless one waits already. */
export const wakeQueue = (tx: Tx, projectId: string): Promise<void> =>
  enqueueUnlessWaiting(tx, 'apply.merge', { projectId }, `apply:${projectId}`);
