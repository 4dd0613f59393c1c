/** What other domains may use of events. */
export { Publisher } from './publisher.ts';
export { EventHub } from './hub.ts';
export { makePartition } from './partitions.ts';
export { raiseGeneration } from './store.ts';
export { purgeDrafts } from './store.ts';
export { caughtUp, startConsumer, takeBatch } from './consumer.ts';
export type { Consumer, Consuming } from './consumer.ts';
export { lastSequence } from './store.ts';
export { EVENT_TYPES, isEventType } from './types.ts';
export type { EventType } from './types.ts';
export { directEventView } from './view.ts';
