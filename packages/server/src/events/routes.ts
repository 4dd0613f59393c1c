import { directRoute, platformRoute } from '../http/operation.ts';
import type { Route } from '../http/operation.ts';
import { allAppEventsHead } from './all-app-events-head.ts';
import { appEventsHead } from './app-events-head.ts';
import { eventsHead } from './events-head.ts';
import { listAllAppEvents } from './list-all-app-events.ts';
import { listAppEvents } from './list-app-events.ts';
import { listEvents } from './list-events.ts';
import { streamAllAppEvents } from './stream-all-app-events.ts';
import { streamAppEvents } from './stream-app-events.ts';
import { streamEvents } from './stream-events.ts';

export const routes: Route[] = [
  ...platformRoute('GET', '/apps/:appId/events', listAppEvents),
  ...platformRoute('GET', '/apps/:appId/events/head', appEventsHead),
  ...platformRoute('GET', '/apps/:appId/events/stream', streamAppEvents),
  ...platformRoute('GET', '/events', listAllAppEvents),
  ...platformRoute('GET', '/events/head', allAppEventsHead),
  ...platformRoute('GET', '/events/stream', streamAllAppEvents),
  directRoute('GET', '/events', listEvents),
  directRoute('GET', '/events/head', eventsHead),
  directRoute('GET', '/events/stream', streamEvents),
];
