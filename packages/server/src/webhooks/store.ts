/** The only writer of `webhook_subscriptions` and `webhook_deliveries`. */
import { sql } from 'kysely';
import type { Insertable, Updateable } from 'kysely';
import type { Db } from '../db/database.ts';
import { countChanged } from '../db/purge.ts';
import type { Purge } from '../db/purge.ts';
import { json } from '../db/schema.ts';
import type { Database, WebhookDeliveryRow, WebhookSubscriptionRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { newId } from '../ids.ts';
import { sealedColumn } from '../sealed-rows.ts';
import type { SealedRows } from '../sealed-rows.ts';
import { PURPOSE } from './secrets.ts';

type SubscriptionsTable = Database['webhook_subscriptions'];
export type SubscriptionChange = Updateable<SubscriptionsTable>;

/** When a change is made: later than the one before. */
export const touched = sql<Date>`greatest(now(), updated_at + interval '1 millisecond')`;

export async function insertSubscription(
  tx: Tx,
  row: Insertable<SubscriptionsTable>,
): Promise<WebhookSubscriptionRow> {
  return tx.db.insertInto('webhook_subscriptions').values(row).returningAll().executeTakeFirstOrThrow();
}

/** Makes the sender read the subscription again. */
export async function saveSubscription(
  tx: Tx,
  id: string,
  change: SubscriptionChange,
): Promise<WebhookSubscriptionRow> {
  tx.wake('webhooks', id);
  return tx.db
    .updateTable('webhook_subscriptions')
    .set({ ...change, updated_at: touched })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Ends subscriptions and removes their secrets at once; the clean-up removes their rows. */
async function endSubscriptions(
  tx: Tx,
  of: { column: 'id' | 'project_id' | 'org_id'; id: string },
): Promise<void> {
  const ended = await tx.db
    .updateTable('webhook_subscriptions')
    .set({
      deleted_at: sql<Date>`now()`,
      secret_sealed: null,
      former_secret_sealed: null,
      former_secret_until: null,
    })
    .where(of.column, '=', of.id)
    .where('deleted_at', 'is', null)
    .returning('id')
    .execute();
  for (const { id } of ended) tx.wake('webhooks', id);
}

export const removeSubscription = (tx: Tx, id: string) => endSubscriptions(tx, { column: 'id', id });

/** The subscriptions of a project that is deleted. */
export const endSubscriptionsOf = (tx: Tx, projectId: string) =>
  endSubscriptions(tx, { column: 'project_id', id: projectId });

/** The subscriptions of an organization that is deleted. */
export const deleteSubscriptionsOf = (tx: Tx, orgId: string) =>
  endSubscriptions(tx, { column: 'org_id', id: orgId });

type NewDelivery = Pick<
  WebhookDeliveryRow,
  'project_id' | 'event_id' | 'event_type' | 'event' | 'redelivery_of'
>;

/** A delivery that a caller asks for, due at once. */
export async function insertDelivery(
  tx: Tx,
  { org_id, id }: Pick<WebhookSubscriptionRow, 'org_id' | 'id'>,
  delivery: NewDelivery,
): Promise<WebhookDeliveryRow> {
  tx.wake('webhooks', id);
  return tx.db
    .insertInto('webhook_deliveries')
    .values({
      ...delivery,
      org_id,
      id: newId('whd'),
      subscription_id: id,
      event: json(delivery.event),
      next_attempt_at: sql<Date>`now()`,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Deleted subscriptions, oldest first. */
export async function findDeletedSubscriptions(db: Db, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('webhook_subscriptions')
    .select('id')
    .where('deleted_at', 'is not', null)
    .orderBy('deleted_at')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** Removes deliveries of deleted subscriptions, then the subscriptions, unless a delivery was added meanwhile. */
export const purgeSubscriptions: Purge[] = [
  (db, ids, limit) =>
    countChanged(
      db,
      sql`delete from webhook_deliveries where id in (
        select id from webhook_deliveries where subscription_id = any(${ids}::text[]) limit ${limit})`,
    ),
  (db, ids, limit) =>
    countChanged(
      db,
      sql`delete from webhook_subscriptions where id in (
        select s.id from webhook_subscriptions s where s.id = any(${ids}::text[]) and s.deleted_at is not null
          and not exists (select from webhook_deliveries d where d.subscription_id = s.id) limit ${limit})`,
    ),
];

const sealedSecret = (column: 'secret_sealed' | 'former_secret_sealed', what: string): SealedRows =>
  sealedColumn({ table: 'webhook_subscriptions', column }, { what, purpose: PURPOSE });

export const sealedSubscriptionSecrets: SealedRows[] = [
  sealedSecret('secret_sealed', "webhooks' secrets"),
  sealedSecret('former_secret_sealed', "webhooks' secrets before their rotation"),
];
