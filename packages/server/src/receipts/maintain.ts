import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { transaction } from '../db/transaction.ts';
import { ApiError } from '../http/errors.ts';
import { every } from '../jobs/every.ts';
import { createLooker } from './outside.ts';
import type { Effects } from './outside.ts';
import { makeUncertain, settle } from './receipts.ts';

const LOOK_MS = 500;
const FORGET_MS = 5_000;
const BATCH = 500;
/** A retry may take a staged claim over once its lease is over; after this it is ended without one. */
const STAGED_GRACE_SECONDS = 5;
/** A released claim's operation can be read as long as a receipt is reserved. */
const RELEASED_KEPT_DAYS = 8;

/**
 * Ends claims whose process died, looks after uncertain receipts, and forgets receipts whose reservation is
 * over, in small batches. Runs in every worker at once and keeps nothing in memory: when one dies, the
 * others' next rounds go on.
 */
export function maintainReceipts(ctx: Context, effects: Effects): void {
  const lookAround = createLooker(ctx, effects);
  const look = async () => {
    await endLostClaims(ctx);
    await lookAround();
  };
  const options = {
    until: ctx.shutdown,
    onFailure: (err: unknown) => ctx.log.debug({ err }, 'receipts were not maintained'),
  };
  every(LOOK_MS, look, options);
  every(FORGET_MS, () => forgetReceipts(ctx), options);
}

const LOST = new ApiError(
  'unavailable',
  'The process that worked on this request ended. Retry with the same Idempotency-Key.',
).body('none');

async function endLostClaims(ctx: Context): Promise<void> {
  const isLost = sql<boolean>`status = 'pending' and lease_until < now() - case when look_name is null then ${STAGED_GRACE_SECONDS} else 0 end * interval '1 second'`;
  // Mostly there are none: one statement then, and no transaction.
  const any = await ctx.db.selectFrom('operations').select('id').where(isLost).limit(1).executeTakeFirst();
  if (!any) return;
  await transaction(ctx, async (tx) => {
    const lost = await tx.db
      .selectFrom('operations')
      .select(['id', 'fence', 'look_name'])
      .where(isLost)
      .limit(BATCH)
      .forUpdate()
      .skipLocked()
      .execute();
    for (const { id, fence, look_name: lookName } of lost) {
      if (lookName === null) await settle(tx, id, fence, { status: 503, body: LOST }, undefined, false);
      else await makeUncertain(tx, id, fence);
    }
  });
}

async function forgetReceipts(ctx: Context): Promise<void> {
  await sql`delete from operations where id in (select id from operations where reserved_until < now() limit ${BATCH} for update skip locked)`.execute(
    ctx.db,
  );
  await sql`delete from operations where id in (select id from operations where reserved_until is null and settled_at < now() - ${RELEASED_KEPT_DAYS} * interval '1 day' limit ${BATCH} for update skip locked)`.execute(
    ctx.db,
  );
}
