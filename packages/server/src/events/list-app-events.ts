import { read } from '../http/operation.ts';
import { FEED_ACCESS, PageOf, answerPage } from './answers.ts';
import { PLATFORM_QUERY } from './feeds.ts';
import { PlatformEvent } from './types.ts';

export const listAppEvents = read({
  name: 'events.listAppEvents',
  summary: 'List an app’s events',
  description:
    'Oldest first, from the cursor on; without a cursor, from the oldest event that is kept. With `order=desc`, newest first, back to the oldest event that is kept; `waitSeconds` is then refused. A cursor is valid only for its order; the cursor of an event or a head is `asc`. Every reader sees the same order; the same cursor gives the same events.',
  access: FEED_ACCESS,
  query: PLATFORM_QUERY.list,
  responses: { 200: PageOf(PlatformEvent) },
  handle: (call) => answerPage(call, 'app'),
});
