/** What other domains may use of automations. */
export { endAutomationsOf } from './end-automations.ts';
export {
  executionsBefore,
  hookDeliveriesBefore,
  markAutomationsPurged,
  purgeAutomations,
  sealedAutomationSecrets,
} from './store.ts';
