import { write } from '../http/operation.ts';
import { Body, Ok } from '../http/schemas.ts';
import { newId } from '../ids.ts';
import { loadSubscription, scopeOf } from './policy.ts';
import { Delivery, PING } from './schemas.ts';
import { insertDelivery } from './store.ts';
import { deliveryView } from './view.ts';

export const testWebhook = write({
  name: 'webhooks.testWebhook',
  summary: 'Send a test delivery',
  description:
    "Sends an event of type `webhook.ping` with the webhook's id in `data`; it is on no feed. It is also sent while the webhook is disabled, and is retried like any delivery.",
  access: { permissions: ['webhook:update'] },
  capability: 'webhooks',
  body: Body({}),
  responses: { 202: Ok({ delivery: Delivery }) },
  async handle(tx, call) {
    const subscription = await loadSubscription(tx.db, call, 'share');
    const now = new Date().toISOString();
    const delivery = await insertDelivery(tx, subscription, {
      project_id: subscription.project_id,
      event_id: newId('evt'),
      event_type: PING,
      event: {
        sequence: null,
        projectId: subscription.project_id,
        threadId: null,
        runId: null,
        data: { id: subscription.id },
        occurredAt: now,
        publishedAt: now,
      },
      redelivery_of: null,
    });
    return {
      status: 202,
      scope: scopeOf(subscription),
      body: { ok: true, delivery: deliveryView(delivery) },
    };
  },
});
