import { read } from '../http/operation.ts';
import { FEED_ACCESS, PageOf, answerPage } from './answers.ts';
import { DIRECT_QUERY } from './feeds.ts';
import { DirectEvent } from './types.ts';

export const listEvents = read({
  name: 'events.listEvents',
  summary: 'List the events of Direct projects',
  description:
    'Oldest first, from the cursor on; without a cursor, from the oldest event that is kept. With `order=desc`, newest first, back to the oldest event that is kept; `waitSeconds` is then refused. A cursor is valid only for its order; the cursor of an event or a head is `asc`. Every reader sees the same order; the same cursor gives the same events. Events of Platform apps are on their own feeds only.',
  access: FEED_ACCESS,
  query: DIRECT_QUERY.list,
  responses: { 200: PageOf(DirectEvent) },
  handle: (call) => answerPage(call, 'direct'),
});
