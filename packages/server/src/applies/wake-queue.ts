import type { Tx } from '../db/transaction.ts';
import { enqueueUnlessWaiting } from '../jobs/enqueue.ts';
import type { Turn } from '../jobs/enqueue.ts';

/** Enqueues the project's merge job, unless one waits already. */
export const wakeQueue = (tx: Tx, of: Turn): Promise<void> =>
  enqueueUnlessWaiting(
    tx,
    'apply.merge',
    { projectId: of.project_id },
    { key: `apply:${of.project_id}`, turnOf: of },
  );
