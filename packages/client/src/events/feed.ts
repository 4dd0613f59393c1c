/** The feeds, and their pages. A cursor belongs to one feed and its filters. */
import { jsonWith, segmentOf } from '../http.ts';
import type { Http, Query } from '../http.ts';
import type { CallOptions } from '../options.ts';
import type { HeadraceEvent } from '../generated/types.ts';
import { ONE_ATTEMPT, persistently } from './patience.ts';
import type { PatienceOptions } from './patience.ts';

/** The events of one app, or of all apps that the key can read. */
export interface AppFeed {
  /** All apps when omitted. */
  appId?: string;
  /** A stream then also carries the thread's drafts. */
  threadId?: string;
  runId?: string;
  types?: readonly string[];
}

/** All events except those of apps. */
export interface DirectFeed {
  direct: true;
  projectId?: string;
  /** A stream then also carries the thread's drafts. */
  threadId?: string;
  runId?: string;
  types?: readonly string[];
}

export type Feed = AppFeed | DirectFeed;

export interface EventPage<E = HeadraceEvent> {
  events: E[];
  nextCursor: string;
  hasMore: boolean;
}

export interface EventListOptions extends CallOptions {
  cursor?: string;
  limit?: number;
  waitSeconds?: number;
  /** Default `asc`. A cursor is valid only for its order. */
  order?: 'asc' | 'desc';
}

const isDirect = (feed: Feed): feed is DirectFeed => 'direct' in feed;

export function pathOf(feed: Feed): string {
  if (isDirect(feed)) return '/api/events';
  const app = feed.appId === undefined ? '' : `/apps/${segmentOf(feed.appId, 'appId')}`;
  return `/api/platform/v1${app}/events`;
}

export const filtersOf = (feed: Feed): Query => ({
  projectId: isDirect(feed) ? feed.projectId : undefined,
  threadId: feed.threadId,
  runId: feed.runId,
  types: feed.types?.join(','),
});

/** Whether this event is the last one of the feed. */
export const isLastOf = (feed: Feed, event: HeadraceEvent): boolean =>
  !isDirect(feed) && event.type === 'platform.app.deleted' && event.appId === feed.appId;

export async function readHead(http: Http, feed: Feed, options: CallOptions = {}): Promise<string> {
  const request = { ...options, method: 'GET', path: `${pathOf(feed)}/head`, query: filtersOf(feed) };
  return (await http.send(request, jsonWith<{ cursor: string }>('cursor'))).data.cursor;
}

/** The same, however long the service is unavailable. */
export const captureHead = (http: Http, feed: Feed, options: PatienceOptions): Promise<string> =>
  persistently(options, () => readHead(http, feed, { signal: options.signal, ...ONE_ATTEMPT }));

export async function listEvents(
  http: Http,
  feed: Feed,
  { cursor, limit, waitSeconds, order, ...options }: EventListOptions = {},
): Promise<EventPage> {
  const query = { ...filtersOf(feed), cursor, limit, waitSeconds, order };
  const request = { ...options, method: 'GET', path: pathOf(feed), query };
  const { events, nextCursor, hasMore } = (
    await http.send(request, jsonWith<EventPage>('events', 'nextCursor'))
  ).data;
  return { events, nextCursor, hasMore };
}
