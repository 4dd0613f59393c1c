/** Which pull requests are looked at when: those that are due, and those of a repository that has moved. */
import type { Context } from '../context.ts';
import { transaction } from '../db/transaction.ts';
import { every } from '../jobs/every.ts';
import type { When } from '../jobs/every.ts';
import { enqueueSync, makeDue, takeDue } from '../pull-requests/index.ts';

const ROUND_MS = 1_000;
const BATCH = 100;
/** A look that is lost with all its attempts is made good after this. */
const AGAIN_SECONDS = 300;

/** Enqueues the looks that are due. Safe in every process at once. */
export function pollPullRequests(ctx: Context, when: When): void {
  every(ROUND_MS, () => enqueueDue(ctx), {
    when,
    until: ctx.shutdown,
    onFailure: (err) => ctx.log.debug({ err }, 'due pull requests could not be read'),
  });
}

async function enqueueDue(ctx: Context): Promise<void> {
  let count = BATCH;
  while (count === BATCH && !ctx.shutdown.aborted)
    count = await transaction(ctx, async (tx) => {
      const rows = await takeDue(tx, BATCH, AGAIN_SECONDS);
      for (const row of rows) await enqueueSync(tx, row);
      return rows.length;
    });
}

/** Something moved at these pull requests of a repository: those that are not merged are looked at. */
export async function lookAtPullRequests(
  ctx: Context,
  repositoryId: string,
  numbers: readonly number[] | 'all',
): Promise<void> {
  if (numbers.length === 0) return;
  await makeDue(ctx.db, repositoryId, numbers);
  await enqueueDue(ctx);
}
