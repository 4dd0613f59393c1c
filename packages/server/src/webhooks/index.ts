/** What other domains may use of webhooks. */
export {
  deleteSubscriptionsOf,
  endSubscriptionsOf,
  findDeletedSubscriptions,
  purgeSubscriptions,
  sealedSubscriptionSecrets,
} from './store.ts';
export { startWebhooks } from './start-webhooks.ts';
