/**
 * Loading a subscription is authorization: it belongs to the caller's organization and is not deleted. A key that
 * is restricted to projects sees only those of its projects, and none without a project.
 */
import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';
import { lockOrganization } from '../accounts/index.ts';
import type { Db } from '../db/database.ts';
import type { Database, WebhookDeliveryRow, WebhookSubscriptionRow } from '../db/schema.ts';
import type { EventScope, Tx } from '../db/transaction.ts';
import { ApiError, notFound } from '../http/errors.ts';
import type { Field } from '../http/errors.ts';
import type { Principal } from '../http/principal.ts';
import { loadProject } from '../projects/index.ts';

const MAX_OF_ORGANIZATION = 100;

/** The subscriptions that a caller sees. */
export const seenBy =
  (principal: Principal) =>
  (eb: ExpressionBuilder<Database, 'webhook_subscriptions'>): Expression<SqlBool> =>
    eb.and([
      eb('org_id', '=', principal.orgId),
      eb('deleted_at', 'is', null),
      ...(principal.projectIds === null ? [] : [eb('project_id', 'in', [...principal.projectIds, ''])]),
    ]);

/**
 * The subscription that the path names. The lock is `update` to change it, and `share` to keep it as it is; both let
 * new deliveries refer to it.
 */
export async function loadSubscription(
  db: Db | Tx['db'],
  { principal, params }: { principal: Principal; params: Record<string, string> },
  lock: 'none' | 'share' | 'update' = 'none',
): Promise<WebhookSubscriptionRow> {
  let query = db
    .selectFrom('webhook_subscriptions')
    .selectAll()
    .where(seenBy(principal))
    .where('id', '=', params.webhookId!);
  if (lock === 'update') query = query.forNoKeyUpdate();
  if (lock === 'share') query = query.forShare();
  const subscription = await query.executeTakeFirst();
  if (!subscription) throw notFound('webhook');
  return subscription;
}

/** The delivery that the path names, of a subscription that the caller sees. */
export async function loadDelivery(
  db: Db | Tx['db'],
  { params }: { params: Record<string, string> },
  { id }: Pick<WebhookSubscriptionRow, 'id'>,
): Promise<WebhookDeliveryRow> {
  const delivery = await db
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('subscription_id', '=', id)
    .where('id', '=', params.deliveryId!)
    .executeTakeFirst();
  if (!delivery) throw notFound('delivery');
  return delivery;
}

/** The feed and project on which writes to a subscription are published. */
export const scopeOf = ({
  org_id,
  project_id,
}: Pick<WebhookSubscriptionRow, 'org_id' | 'project_id'>): EventScope => ({
  orgId: org_id,
  projectId: project_id,
  feed: 'direct',
});

/** A restricted key subscribes only to events of its projects. */
export const projectFaults = ({ projectIds }: Principal, projectId: string | undefined): Field[] =>
  projectId === undefined && projectIds !== null
    ? [{ path: '/projectId', message: 'is required: this key is restricted to projects' }]
    : [];

/** Keeps the project from being deleted. An app's events are on no feed that webhooks deliver. */
export async function requireDirectProject(
  tx: Tx,
  call: { principal: Principal; api: 'direct' | 'platform'; params: Record<string, string> },
  projectId: string,
): Promise<void> {
  const { kind } = await loadProject(tx.db, call, 'share', projectId);
  if (kind !== 'direct') throw notFound('project');
}

/** Locks the organization, so that concurrent calls do not exceed the limit together. */
export async function requireRoom(tx: Tx, orgId: string): Promise<void> {
  if (!(await lockOrganization(tx, orgId))) throw notFound('organization');
  const { count } = await tx.db
    .selectFrom('webhook_subscriptions')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('org_id', '=', orgId)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow();
  if (count >= MAX_OF_ORGANIZATION)
    throw new ApiError(
      'conflict',
      `An organization has at most ${MAX_OF_ORGANIZATION} webhooks. Delete one first.`,
    );
}
