import { audit } from '../audit/index.ts';
import type { WebhookSubscriptionRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { caughtUp, lastSequence } from '../events/index.ts';
import { invalid } from '../http/errors.ts';
import { write } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { loadSubscription, scopeOf } from './policy.ts';
import { receiverUrlFaults } from './receiver-url.ts';
import { Subscription, WebhookChange } from './schemas.ts';
import { saveSubscription } from './store.ts';
import type { SubscriptionChange } from './store.ts';
import { subscriptionView } from './view.ts';

export const updateWebhook = write({
  name: 'webhooks.updateWebhook',
  summary: 'Change, pause or resume a webhook',
  description:
    'Changes only the given fields. A new `url` applies from the next attempt, new `types` to later events. `disabled: true` pauses: pending deliveries stay, and new events add more. `disabled: false` resumes, also if the service disabled the webhook: due deliveries are sent at once, oldest first. Events that were published while the service had it disabled are not delivered.',
  access: { permissions: ['webhook:update'] },
  capability: 'webhooks',
  body: WebhookChange,
  responses: { 200: Ok({ subscription: Subscription }) },
  // Earlier events are matched with the old types. The wait is limited.
  before: async ({ ctx, body }) => (body.types === undefined ? undefined : caughtUp(ctx, 'webhooks')),
  async handle(tx, call) {
    const { ctx, body } = call;
    const faults = receiverUrlFaults(body.url, ctx.config.webhooks.allowPrivate);
    if (faults.length) throw invalid(...faults);
    const before = await loadSubscription(tx.db, call, 'update');
    const row = await saveSubscription(tx, before.id, {
      ...(body.url === undefined ? {} : { url: body.url }),
      ...(body.types === undefined ? {} : { types: [...new Set(body.types)] }),
      ...(body.disabled === true && before.disabled_reason === null ? { disabled_reason: 'user' } : {}),
      ...(body.disabled === false ? await enabled(tx, before) : {}),
    });
    await audit(tx, call, 'webhook.updated', row.id);
    return { status: 200, scope: scopeOf(row), body: { ok: true, subscription: subscriptionView(row) } };
  },
});

/** Events add deliveries to a paused subscription, but not to one that the service disabled. */
async function enabled(
  tx: Tx,
  { disabled_reason: reason }: WebhookSubscriptionRow,
): Promise<SubscriptionChange> {
  const isByService = reason !== null && reason !== 'user';
  return {
    disabled_reason: null,
    failing_since: null,
    failed_attempts: 0,
    ...(isByService ? { after_sequence: await lastSequence(tx.db) } : {}),
  };
}
