import { audit } from '../audit/index.ts';
import { write } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { loadSubscription, scopeOf } from './policy.ts';
import { Subscription } from './schemas.ts';
import { removeSubscription } from './store.ts';
import { subscriptionView } from './view.ts';

export const deleteWebhook = write({
  name: 'webhooks.deleteWebhook',
  summary: 'Delete a webhook with its deliveries',
  description: 'Nothing more is sent. Pending deliveries are dropped.',
  access: { permissions: ['webhook:delete'] },
  capability: 'webhooks',
  responses: { 200: Ok({ subscription: Subscription }) },
  async handle(tx, call) {
    const row = await loadSubscription(tx.db, call, 'update');
    await removeSubscription(tx, row.id);
    await audit(tx, call, 'webhook.deleted', row.id);
    return { status: 200, scope: scopeOf(row), body: { ok: true, subscription: subscriptionView(row) } };
  },
});
