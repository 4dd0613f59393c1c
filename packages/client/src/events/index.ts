/** The feeds: of one app, of all apps that the key can read, or of everything else. */
import type { Http } from '../http.ts';
import type { CallOptions } from '../options.ts';
import type { HeadraceEvent } from '../generated/types.ts';
import { listEvents, readHead } from './feed.ts';
import type { EventListOptions, EventPage, Feed } from './feed.ts';
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
  list(feed: Feed, options?: EventListOptions): Promise<EventPage>;
  /**
   * Every event after the cursor, once, in order: up to the feed's current end, or endlessly with `follow`.
   * Throws a 410 as HeadraceError.
   */
  replay(feed: Feed, options?: ReplayOptions): AsyncGenerator<HeadraceEvent>;
  /**
   * Every event after the cursor (default: now), once, in order, and drafts. It always reconnects; a 410 becomes
   * an item of kind `reset`. It reads nothing while the consumer is busy. It ends when the app is deleted; it
   * throws when the signal aborts, and when the key may no longer read.
   */
  stream(feed: Feed, options?: StreamOptions): AsyncGenerator<StreamItem>;
  /** Keeps a snapshot up to date with the events, also after a 410. Rejects where `stream` throws. */
  view(feed: Feed, options: ViewOptions): Promise<void>;
}

export const createEvents = (http: Http): Events => ({
  head: (feed, options) => readHead(http, feed, options),
  list: (feed, options) => listEvents(http, feed, options),
  replay: (feed, options) => replayEvents(http, feed, options),
  stream: (feed, options) => streamEvents(http, feed, options),
  view: (feed, options) => followView(http, feed, options),
});
