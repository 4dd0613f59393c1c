/** Deliveries to hooks: each id has one answer for seven days. */
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import type { AutomationRow, HookDeliveryRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';

/** The automation of a hook, before authentication, and the capabilities that its organization lacks. */
export async function findHook(
  db: Db,
  id: string,
): Promise<(AutomationRow & { without: string[] }) | undefined> {
  return db
    .selectFrom('automations as a')
    .innerJoin('organizations as o', 'o.id', 'a.org_id')
    .selectAll('a')
    .select('o.without')
    .where('a.id', '=', id)
    .where('a.kind', '=', 'webhook')
    .where('a.deleted_at', 'is', null)
    .executeTakeFirst();
}

/** Records a delivery's id for a locked automation; returns the first delivery with this id if one exists. */
export async function takeDelivery(
  tx: Tx,
  automationId: string,
  deliveryId: string,
): Promise<HookDeliveryRow | undefined> {
  const { rows } = await sql`
    insert into hook_deliveries (automation_id, delivery_id) values (${automationId}, ${deliveryId})
    on conflict (automation_id, delivery_id)
      do update set created_at = now(), execution_id = null, skipped = null
      where hook_deliveries.created_at < now() - interval '7 days'
    returning 1`.execute(tx.db);
  if (rows.length > 0) return undefined;
  return tx.db
    .selectFrom('hook_deliveries')
    .selectAll()
    .where('automation_id', '=', automationId)
    .where('delivery_id', '=', deliveryId)
    .executeTakeFirstOrThrow();
}

/** Stores the outcome of a recorded delivery. */
export async function settleDelivery(
  tx: Tx,
  automationId: string,
  deliveryId: string,
  outcome: Pick<HookDeliveryRow, 'execution_id' | 'skipped'>,
): Promise<void> {
  await tx.db
    .updateTable('hook_deliveries')
    .set(outcome)
    .where('automation_id', '=', automationId)
    .where('delivery_id', '=', deliveryId)
    .execute();
}
