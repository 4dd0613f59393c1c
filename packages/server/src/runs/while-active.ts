import { transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import type { ClaimedRun } from './claimed-run.ts';
import { keepActive } from './store.ts';

/** One write of this worker for its run; none where an archive or a deletion has ended the run. */
export async function whileActive(
  { ctx, job, run }: ClaimedRun,
  write: (tx: Tx) => Promise<void>,
): Promise<void> {
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    if (await keepActive(tx, run.id)) await write(tx);
  });
}
