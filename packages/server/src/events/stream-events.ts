import { read } from '../http/operation.ts';
import { FEED_ACCESS, StreamAnswer, answerStream } from './answers.ts';
import { DIRECT_QUERY } from './feeds.ts';

export const streamEvents = read({
  name: 'events.streamEvents',
  summary: 'Stream the events of Direct projects',
  description:
    'Replays from `Last-Event-ID` (which takes precedence over `cursor`), then continues live; without either, it starts now. Deduplicate by the event’s `id`.',
  access: FEED_ACCESS,
  query: DIRECT_QUERY.stream,
  responses: { 200: StreamAnswer },
  handle: (call) => answerStream(call, 'direct'),
});
