import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { appendEvent, transaction } from '../db/transaction.ts';
import { ApiError } from '../http/errors.ts';

const EVERY_MS = 5_000;
const BATCH = 500;

/**
 * Ends staged claims whose process died (their lease is over by 5 s: a retry may take them over until then and after), and forgets
 * receipts whose reservation is over, in small batches. Safe in every process at once.
 */
export function maintainReceipts(ctx: Context): void {
  const timer = setInterval(() => { void once(ctx).catch((err: unknown) => ctx.log.debug({ err }, 'receipts were not maintained')); }, EVERY_MS);
  ctx.shutdown.addEventListener('abort', () => clearInterval(timer));
}

async function once(ctx: Context): Promise<void> {
  await transaction(ctx, async (tx) => {
    const lost = await tx.db.selectFrom('operations').select(['id', 'org_id', 'project_id', 'published']).where('status', '=', 'pending')
      .where('lease_until', '<', sql<Date>`now() - interval '5 seconds'`).limit(BATCH).forUpdate().skipLocked().execute();
    const body = new ApiError('unavailable', 'The process that worked on this request ended. Retry with the same Idempotency-Key.').body('none');
    for (const { id, org_id: orgId, project_id: projectId, published } of lost) {
      await tx.db.updateTable('operations').set({ status: 'failed', response_status: 503, response: JSON.stringify(body), settled_at: sql<Date>`clock_timestamp()`, lease_until: null }).where('id', '=', id).execute();
      if (published) appendEvent(tx, { orgId, projectId, feed: 'direct' }, 'operation.updated', { id, status: 'failed' });
    }
  });
  await sql`delete from operations where id in (select id from operations where reserved_until < now() limit ${BATCH} for update skip locked)`.execute(ctx.db);
}
