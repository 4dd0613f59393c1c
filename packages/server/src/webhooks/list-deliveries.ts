import Type from 'typebox';
import { page } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import { Enum, ListQuery, Page } from '../http/schemas.ts';
import { loadSubscription } from './policy.ts';
import { Delivery, DELIVERY_STATUSES, DELIVERY_TYPES } from './schemas.ts';
import { deliveryView } from './view.ts';

export const listDeliveries = read({
  name: 'webhooks.listDeliveries',
  summary: "List a webhook's deliveries, newest first",
  description: 'Deliveries that have ended are kept as long as events.',
  access: { permissions: ['webhook:read'] },
  capability: 'webhooks',
  query: ListQuery({
    status: Type.Optional(Enum(DELIVERY_STATUSES)),
    eventType: Type.Optional(Enum(DELIVERY_TYPES)),
  }),
  responses: { 200: Page('deliveries', Delivery) },
  async handle(call) {
    const { ctx, query } = call;
    const { status, eventType } = query;
    const { id } = await loadSubscription(ctx.db, call);
    const { rows, ...rest } = await page(
      {
        secretKey: ctx.secretKey,
        query,
        scope: ['webhook-deliveries', id, status ?? null, eventType ?? null],
      },
      (after, limit) => {
        let deliveries = ctx.db
          .selectFrom('webhook_deliveries')
          .selectAll()
          .where('subscription_id', '=', id);
        if (status !== undefined) deliveries = deliveries.where('status', '=', status);
        if (eventType !== undefined) deliveries = deliveries.where('event_type', '=', eventType);
        if (after !== null) deliveries = deliveries.where('number', '<', Number(after));
        return deliveries.orderBy('number', 'desc').limit(limit).execute();
      },
      ({ number }) => String(number),
    );
    return { status: 200, body: { ok: true, deliveries: rows.map(deliveryView), ...rest } };
  },
});
