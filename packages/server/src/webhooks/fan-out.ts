/** Creates the deliveries of the log's events: in order, each once, in the transaction that moves the reader's position. */
import type { Context } from '../context.ts';
import type { Consumer } from '../events/index.ts';
import { findSubscribers, insertDeliveries } from './delivery-store.ts';
import { matchAll } from './match.ts';

export const fanOut = ({ config }: Pick<Context, 'config'>): Consumer => ({
  name: 'webhooks',
  idleWhen: `not exists (select from webhook_subscriptions where deleted_at is null and (disabled_reason is null or disabled_reason = 'user'))`,
  async take(tx, events) {
    const direct = events.filter(({ feed }) => feed === 'direct');
    if (direct.length === 0 || config.disabled.includes('webhooks')) return;
    const subscribers = await findSubscribers(tx, [...new Set(direct.map((event) => event.org_id))]);
    const matches = matchAll(direct, subscribers);
    await insertDeliveries(tx, matches);
    for (const { subscriber } of matches) tx.wake('webhooks', subscriber.id);
  },
});
