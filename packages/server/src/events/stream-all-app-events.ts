import { read } from '../http/operation.ts';
import { FEED_ACCESS, StreamAnswer, answerStream } from './answers.ts';
import { PLATFORM_QUERY } from './feeds.ts';

export const streamAllAppEvents = read({
  name: 'events.streamAllAppEvents',
  summary: 'Stream the events of all apps',
  description:
    'Replays from `Last-Event-ID` (which takes precedence over `cursor`), then continues live; without either, it starts now. Deduplicate by the event’s `id`. Ends with an `error` frame when a restricted key gains or loses an app.',
  access: FEED_ACCESS,
  query: PLATFORM_QUERY.stream,
  responses: { 200: StreamAnswer },
  handle: (call) => answerStream(call, 'all'),
});
