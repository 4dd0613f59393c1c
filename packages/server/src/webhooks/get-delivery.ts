import { read } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { loadDelivery, loadSubscription } from './policy.ts';
import { Delivery } from './schemas.ts';
import { deliveryView } from './view.ts';

export const getDelivery = read({
  name: 'webhooks.getDelivery',
  summary: 'Get a delivery',
  access: { permissions: ['webhook:read'] },
  capability: 'webhooks',
  responses: { 200: Ok({ delivery: Delivery }) },
  async handle(call) {
    const { db } = call.ctx;
    const delivery = await loadDelivery(db, call, await loadSubscription(db, call));
    return { status: 200, body: { ok: true, delivery: deliveryView(delivery) } };
  },
});
