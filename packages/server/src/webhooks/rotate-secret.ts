import { audit } from '../audit/index.ts';
import { write } from '../http/operation.ts';
import { rotatedSecret, Rotation } from '../signing-secrets.ts';
import { loadSubscription } from './policy.ts';
import { SubscriptionWithSecret } from './schemas.ts';
import { makeSecret, withSecret } from './secrets.ts';
import { saveSubscription } from './store.ts';

export const rotateSecret = write({
  name: 'webhooks.rotateSecret',
  summary: "Replace a webhook's secret",
  description:
    'The new secret is returned only once. Until `overlapSeconds` have passed, deliveries carry two signatures, the first by the new secret, the second by the old one. A second rotation drops the oldest secret.',
  access: { permissions: ['webhook:update'] },
  capability: 'webhooks',
  body: Rotation,
  responses: { 200: SubscriptionWithSecret },
  async handle(tx, call) {
    const before = await loadSubscription(tx.db, call, 'update');
    const { secret, sealed } = makeSecret(call.ctx, before);
    const row = await saveSubscription(tx, before.id, rotatedSecret(before, sealed, call.body));
    await audit(tx, call, 'webhook.secret_rotated', row.id);
    return withSecret(200, row, secret);
  },
});
