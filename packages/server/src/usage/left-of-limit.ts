import type { ThreadRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';

/** What a thread may still spend of its own limit, in micro-units of USD; null where it has none. */
export async function leftOfLimit(
  tx: Tx,
  thread: Pick<ThreadRow, 'id' | 'spend_limit_micros'>,
): Promise<number | null> {
  if (thread.spend_limit_micros === null) return null;
  const spent = await tx.db
    .selectFrom('spending')
    .select('spent_micros')
    .where('scope_id', '=', thread.id)
    .where('period', '=', '')
    .executeTakeFirst();
  return Math.max(0, thread.spend_limit_micros - (spent?.spent_micros ?? 0));
}
