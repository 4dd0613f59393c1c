import { read } from '../http/operation.ts';
import { FEED_ACCESS, StreamAnswer, answerStream } from './answers.ts';
import { PLATFORM_QUERY } from './feeds.ts';

export const streamAppEvents = read({
  name: 'events.streamAppEvents',
  summary: 'Stream an app’s events',
  description:
    'Replays from `Last-Event-ID` (which takes precedence over `cursor`), then continues live; without either, it starts now. Deduplicate by the event’s `id`. The stream of a deleted app ends with `platform.app.deleted`.',
  access: FEED_ACCESS,
  query: PLATFORM_QUERY.stream,
  responses: { 200: StreamAnswer },
  handle: (call) => answerStream(call, 'app'),
});
