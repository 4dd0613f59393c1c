import type { Tx } from '../db/transaction.ts';
import { enqueueUnlessWaiting } from '../jobs/enqueue.ts';

/** Has the project's queue looked at once the caller's transaction has committed. */
export const wakeQueue = (tx: Tx, projectId: string): Promise<void> =>
  enqueueUnlessWaiting(tx, 'apply.merge', { projectId }, `apply:${projectId}`);
