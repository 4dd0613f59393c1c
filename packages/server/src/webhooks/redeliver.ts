import { ApiError } from '../http/errors.ts';
import { write } from '../http/operation.ts';
import { Body, Ok } from '../http/schemas.ts';
import { loadDelivery, loadSubscription, scopeOf } from './policy.ts';
import { Delivery } from './schemas.ts';
import { insertDelivery } from './store.ts';
import { deliveryView } from './view.ts';

export const redeliver = write({
  name: 'webhooks.redeliver',
  summary: 'Send a delivery again',
  description:
    'Creates a new delivery of the same event, whatever the outcome of the first one. `redeliveryOf` is the delivery in the path. Receivers see the same `webhook-id`. While the webhook is disabled: 409 `webhook_disabled`.',
  access: { permissions: ['webhook:update'] },
  capability: 'webhooks',
  body: Body({}),
  responses: { 202: Ok({ delivery: Delivery }) },
  async handle(tx, call) {
    const subscription = await loadSubscription(tx.db, call, 'share');
    const { id, project_id, event_id, event_type, event } = await loadDelivery(tx.db, call, subscription);
    if (subscription.disabled_reason !== null)
      throw new ApiError('webhook_disabled', 'The webhook is disabled. Resume it first.');
    const delivery = await insertDelivery(tx, subscription, {
      project_id,
      event_id,
      event_type,
      event,
      redelivery_of: id,
    });
    return {
      status: 202,
      scope: scopeOf(subscription),
      body: { ok: true, delivery: deliveryView(delivery) },
    };
  },
});
