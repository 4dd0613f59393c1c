import Type from 'typebox';
import { audit } from '../audit/index.ts';
import { write } from '../http/operation.ts';
import { Body } from '../http/schemas.ts';
import { rotatedSecret } from '../signing-secrets.ts';
import { loadSubscription } from './policy.ts';
import { SubscriptionWithSecret } from './schemas.ts';
import { makeSecret, withSecret } from './secrets.ts';
import { saveSubscription } from './store.ts';

const OVERLAP_SECONDS = 86_400;

export const rotateSecret = write({
  name: 'webhooks.rotateSecret',
  summary: "Replace a webhook's secret",
  description:
    'The new secret is returned only once. Until `overlapSeconds` have passed, deliveries carry a signature by each of both secrets, the new one first. A second rotation drops the oldest secret.',
  access: { permissions: ['webhook:update'] },
  capability: 'webhooks',
  body: Body({
    overlapSeconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 604_800,
        default: OVERLAP_SECONDS,
        description: 'How long the former secret signs, too.',
      }),
    ),
  }),
  responses: { 200: SubscriptionWithSecret },
  async handle(tx, call) {
    const before = await loadSubscription(tx.db, call, 'update');
    const { secret, sealed } = makeSecret(call.ctx, before);
    const overlapSeconds = call.body.overlapSeconds ?? OVERLAP_SECONDS;
    const row = await saveSubscription(tx, before.id, rotatedSecret(before, sealed, overlapSeconds));
    await audit(tx, call, 'webhook.secret_rotated', row.id);
    return withSecret(200, row, secret);
  },
});
