import { read } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { loadSubscription } from './policy.ts';
import { Subscription } from './schemas.ts';
import { subscriptionView } from './view.ts';

export const getWebhook = read({
  name: 'webhooks.getWebhook',
  summary: 'Get a webhook',
  access: { permissions: ['webhook:read'] },
  capability: 'webhooks',
  responses: { 200: Ok({ subscription: Subscription }) },
  handle: async (call) => ({
    status: 200,
    body: { ok: true, subscription: subscriptionView(await loadSubscription(call.ctx.db, call)) },
  }),
});
