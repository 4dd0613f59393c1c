/** What other domains may use of events. */
export { Publisher } from './publisher.ts';
export { EventHub } from './hub.ts';
export { makePartition } from './partitions.ts';
export { raiseGeneration } from './store.ts';
export { putDraft, removeDraft } from './drafts.ts';
export { purgeDrafts } from './store.ts';
