/** The feeds: of one app, of all apps that the key can read, or of everything else. */
import type { Http } from '../http.ts';
import type { CallOptions } from '../options.ts';
import type { DirectEvent, HeadraceEvent } from '../generated/types.ts';
import { listEvents, readHead } from './feed.ts';
import type { AppFeed, DirectFeed, EventListOptions, EventPage, Feed } from './feed.ts';
import { replayEvents } from './replay.ts';
import type { ReplayOptions } from './replay.ts';
import { streamEvents } from './stream.ts';
import type { StreamItem, StreamOptions } from './stream.ts';
import { followView } from './view.ts';
import type { ViewOptions } from './view.ts';

export type { Draft } from './drafts.ts';
export type { AppFeed, DirectFeed, EventListOptions, EventPage, Feed } from './feed.ts';
export type { ReaderState, ResetCode } from './patience.ts';
export type { ReplayOptions } from './replay.ts';
export type { StreamItem, StreamOptions } from './stream.ts';
export type { ViewOptions } from './view.ts';

export interface Events {
  /** A cursor at the feed's end. */
  head(feed: Feed, options?: CallOptions): Promise<string>;
  /**
   * One page; without a cursor, it starts at the oldest event that is kept. With `waitSeconds` (0-30), an
   * empty page waits for events.
   */
  list(feed: DirectFeed, options?: EventListOptions): Promise<EventPage<DirectEvent>>;
  list(feed: AppFeed, options?: EventListOptions): Promise<EventPage>;
  /**
   * Every event after the cursor, once, in order: up to the feed's current end, or endlessly with `follow`.
   * Throws a 410 as HeadraceError.
   */
  replay(feed: DirectFeed, options?: ReplayOptions): AsyncGenerator<DirectEvent>;
  replay(feed: AppFeed, options?: ReplayOptions): AsyncGenerator<HeadraceEvent>;
  /**
   * Every event after the cursor (default: now), once, in order, and drafts. It always reconnects; a 410 becomes
   * an item of kind `reset`. It reads nothing while the consumer is busy. It ends when the app is deleted; it
   * throws when the signal aborts, and when the key may no longer read.
   */
  stream(feed: DirectFeed, options?: StreamOptions): AsyncGenerator<StreamItem<DirectEvent>>;
  stream(feed: AppFeed, options?: StreamOptions): AsyncGenerator<StreamItem>;
  /** Keeps a snapshot up to date with the events, also after a 410. Rejects where `stream` throws. */
  view(feed: DirectFeed, options: ViewOptions<DirectEvent>): Promise<void>;
  view(feed: AppFeed, options: ViewOptions): Promise<void>;
}

export const createEvents = (http: Http): Events => ({
  head: (feed, options) => readHead(http, feed, options),
  list: (feed: Feed, options?: EventListOptions) => listEvents(http, feed, options),
  replay: (feed: Feed, options?: ReplayOptions) => replayEvents(http, feed, options),
  stream: (feed: Feed, options?: StreamOptions) => streamEvents(http, feed, options),
  view: (feed: Feed, options: ViewOptions) => followView(http, feed, options),
});
