import type { Context } from '../context.ts';
import { transaction } from '../db/transaction.ts';
import { ApiError } from '../http/errors.ts';
import { every } from '../jobs/every.ts';
import type { When } from '../jobs/every.ts';
import { createLooker } from './outside.ts';
import type { Effects } from './outside.ts';
import { makeUncertain, settle } from './settle.ts';
import { deleteOverReceipts, hasLostClaims, lockLostClaims } from './store.ts';

const LOOK_MS = 500;
const FORGET_MS = 5_000;
const BATCH = 500;

/**
 * Ends claims whose process died, looks after uncertain receipts, and forgets receipts whose reservation is
 * over, in small batches. Safe in every process at once; it keeps nothing in memory: when one dies,
 * another's next rounds go on.
 */
export function maintainReceipts(ctx: Context, effects: Effects, when?: When): void {
  const lookAround = createLooker(ctx, effects);
  const look = async () => {
    await endLostClaims(ctx);
    await lookAround();
  };
  const options = {
    when,
    until: ctx.shutdown,
    onFailure: (err: unknown) => ctx.log.debug({ err }, 'receipts were not maintained'),
  };
  every(LOOK_MS, look, options);
  every(FORGET_MS, () => deleteOverReceipts(ctx, BATCH), options);
}

const LOST = new ApiError(
  'unavailable',
  'The process that worked on this request ended. Retry with the same Idempotency-Key.',
).body('none');

async function endLostClaims(ctx: Context): Promise<void> {
  // Mostly there are none: one statement then, and no transaction.
  if (!(await hasLostClaims(ctx.db))) return;
  await transaction(ctx, async (tx) => {
    for (const { id: operationId, fence, look_name: lookName } of await lockLostClaims(tx, BATCH)) {
      if (lookName === null)
        await settle(tx, { operationId, fence }, { status: 503, body: LOST }, { isReserved: false });
      else await makeUncertain(tx, { operationId, fence });
    }
  });
}
