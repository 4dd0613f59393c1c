/** What other rooms may use of events. */
export { eventRoutes } from './routes.ts';
export { Publisher } from './publisher.ts';
export { EventHub } from './hub.ts';
export { putDraft, removeDraft } from './drafts.ts';
