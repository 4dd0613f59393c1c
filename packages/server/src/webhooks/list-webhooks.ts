import { page } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import { ListQuery, Page } from '../http/schemas.ts';
import { seenBy } from './policy.ts';
import { Subscription } from './schemas.ts';
import { subscriptionView } from './view.ts';

export const listWebhooks = read({
  name: 'webhooks.listWebhooks',
  summary: 'List webhooks, newest first',
  description: 'A key that is restricted to projects sees only the webhooks of its projects.',
  access: { permissions: ['webhook:read'] },
  capability: 'webhooks',
  query: ListQuery(),
  responses: { 200: Page('subscriptions', Subscription) },
  async handle({ ctx, principal, query }) {
    const { rows, ...rest } = await page(
      { secretKey: ctx.secretKey, query, scope: ['webhooks', principal.orgId] },
      (after, limit) => {
        let subscriptions = ctx.db.selectFrom('webhook_subscriptions').selectAll().where(seenBy(principal));
        if (after !== null) subscriptions = subscriptions.where('id', '<', after);
        return subscriptions.orderBy('id', 'desc').limit(limit).execute();
      },
      ({ id }) => id,
    );
    return { status: 200, body: { ok: true, subscriptions: rows.map(subscriptionView), ...rest } };
  },
});
