import { read } from '../http/operation.ts';
import { FEED_ACCESS, Head, answerHead } from './answers.ts';
import { PLATFORM_QUERY } from './feeds.ts';

export const allAppEventsHead = read({
  name: 'events.allAppEventsHead',
  summary: 'Get the head of all apps’ events',
  description:
    'Capture it before reading resources, then replay from it with the same filters: nothing is missed in between.',
  access: FEED_ACCESS,
  query: PLATFORM_QUERY.head,
  responses: { 200: Head },
  handle: (call) => answerHead(call, 'all'),
});
