import { read } from '../http/operation.ts';
import { FEED_ACCESS, Head, answerHead } from './answers.ts';
import { DIRECT_QUERY } from './feeds.ts';

export const eventsHead = read({
  name: 'events.eventsHead',
  summary: 'Get the head of the Direct projects’ events',
  description:
    'Capture it before reading resources, then replay from it with the same filters: nothing is missed in between.',
  access: FEED_ACCESS,
  query: DIRECT_QUERY.head,
  responses: { 200: Head },
  handle: (call) => answerHead(call, 'direct'),
});
