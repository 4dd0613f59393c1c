export { eventRoutes } from './routes.ts';
export { startPublisher } from './publisher.ts';
export type { Publisher } from './publisher.ts';
export { EventHub } from './hub.ts';
export { putDraft, removeDraft } from './drafts.ts';
export type { Draft } from './drafts.ts';
export { EVENT_DATA, EVENT_TYPES } from './types.ts';
export type { EventType } from './types.ts';
