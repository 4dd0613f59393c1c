/** The feeds: of one app, or of all apps that the key reads. Cursors are bound to a feed and its filters. */
import { setTimeout as sleep } from 'node:timers/promises';
import { HeadraceError } from './errors.ts';
import { backoff } from './http.ts';
import type { CallOptions, Http, Query } from './http.ts';
import { framesOf } from './sse.ts';
import type { HeadraceEvent } from './types.ts';

export interface Feed {
  /** Without it: all apps. */
  appId?: string;
  /** On a stream also the thread's drafts. */
  threadId?: string;
  runId?: string;
  types?: string[];
}

export interface EventPage {
  events: HeadraceEvent[];
  nextCursor: string;
  hasMore: boolean;
}

export type StreamItem =
  | { kind: 'event'; event: HeadraceEvent }
  /** The reply in progress; a newer revision replaces it. No guarantee, no cursor. */
  | {
      kind: 'draft';
      draft: { threadId: string; messageId: string; runId: string; revision: number; content: string };
    }
  | { kind: 'draft.removed'; threadId: string; messageId: string }
  /** Connected, for the first time or again. */
  | { kind: 'open' }
  /**
   * Events may be missing before this: reload what you show, then read on. `cursor` stands after what is
   * missing.
   */
  | { kind: 'reset'; code: 'cursor_expired' | 'cursor_scope_changed'; cursor: string };

export interface Events {
  /** A cursor at the feed's end. */
  head(feed: Feed, options?: CallOptions): Promise<string>;
  /**
   * One page; without a cursor from the oldest event that is kept. `waitSeconds` (0-30) lets an empty page
   * wait.
   */
  list(
    feed: Feed,
    options?: CallOptions & { cursor?: string; limit?: number; waitSeconds?: number },
  ): Promise<EventPage>;
  /**
   * Every event behind the cursor, once, in order: to the feed's present end, or with `follow` on and on.
   * Throws 410 as it is.
   */
  replay(
    feed: Feed,
    options?: CallOptions & { cursor?: string; follow?: boolean },
  ): AsyncGenerator<HeadraceEvent>;
  /**
   * Every event from the cursor (default: from now) on, once, and drafts. Resumes by itself where it was
   * cut; a 410 becomes an item of kind `reset`. Ends when the caller does or the app is deleted; throws
   * when the key may not read on.
   */
  stream(feed: Feed, options?: CallOptions & { cursor?: string }): AsyncGenerator<StreamItem>;
}

const PAGE = 500;
const FOLLOW_SECONDS = 25;
/** Three heartbeats. */
const SILENCE_MS = 45_000;
/** Of a stream that does not come back, beside the retries of each request. */
const RECONNECTS = 20;
/** What a resumed stream could repeat is far less: a cursor is taken over with each event. */
const REMEMBERED_IDS = 1_000;

export function createEvents(http: Http): Events {
  const root = (feed: Feed) =>
    `/api/platform/v1${feed.appId === undefined ? '' : `/apps/${encodeURIComponent(feed.appId)}`}/events`;
  const filters = (feed: Feed): Query => ({
    threadId: feed.threadId,
    runId: feed.runId,
    types: feed.types?.join(','),
  });

  const head: Events['head'] = async (feed, options = {}) =>
    (await http.json<{ cursor: string }>('GET', `${root(feed)}/head`, { ...options, query: filters(feed) }))
      .cursor;

  const list: Events['list'] = (feed, { cursor, limit, waitSeconds, ...options } = {}) =>
    http.json<EventPage>('GET', root(feed), {
      ...options,
      query: { ...filters(feed), cursor, limit, waitSeconds },
    });

  async function* replay(
    feed: Feed,
    { cursor, follow = false, ...options }: CallOptions & { cursor?: string; follow?: boolean } = {},
  ): AsyncGenerator<HeadraceEvent> {
    for (let at = cursor; ;) {
      const page = await list(feed, {
        ...options,
        limit: PAGE,
        ...(at === undefined ? {} : { cursor: at }),
        ...(follow ? { waitSeconds: FOLLOW_SECONDS } : {}),
      });
      yield* page.events;
      at = page.nextCursor;
      if (!follow && !page.hasMore) return;
    }
  }

  async function* connection(
    feed: Feed,
    cursor: string,
    options: CallOptions,
  ): AsyncGenerator<{ item: StreamItem | null; cursor: string | null }> {
    const response = await http.open('GET', `${root(feed)}/stream`, {
      ...options,
      query: filters(feed),
      headers: { accept: 'text/event-stream', 'last-event-id': cursor },
    });
    yield { item: { kind: 'open' }, cursor: null };
    for await (const { event: type, data, id } of framesOf(response.body!, SILENCE_MS)) {
      const content = JSON.parse(data) as never;
      if (type === 'error') throw streamError(content);
      yield { item: itemOf(type, content), cursor: id || null };
    }
  }

  async function* stream(
    feed: Feed,
    { cursor, ...options }: CallOptions & { cursor?: string } = {},
  ): AsyncGenerator<StreamItem> {
    const seen = new RecentIds();
    // From a cursor also when the caller has none: what comes before the first frame of a lost connection
    // would be missed.
    let at = cursor ?? (await head(feed, options));
    for (let failures = 0; failures < RECONNECTS; failures++) {
      try {
        for await (const { item, cursor: next } of connection(feed, at, options)) {
          if (next !== null) at = next;
          if (item === null || (item.kind === 'event' && !seen.add(item.event.id))) continue;
          if (item.kind !== 'open') failures = 0;
          yield item;
          if (
            item.kind === 'event' &&
            item.event.type === 'platform.app.deleted' &&
            item.event.appId === feed.appId
          )
            return;
        }
      } catch (error) {
        if (options.signal?.aborted) throw error;
        const code = resetCode(error);
        if (code === null && error instanceof HeadraceError && error.status !== 0) throw error;
        if (code !== null) {
          at = await head(feed, options);
          yield { kind: 'reset', code, cursor: at };
        }
      }
      await sleep(backoff(failures + 1), undefined, options.signal ? { signal: options.signal } : {});
    }
    throw new HeadraceError(
      0,
      'network_error',
      `The stream was cut ${RECONNECTS} times in a row. Read on from its last event's cursor later.`,
    );
  }

  return { head, list, replay, stream };
}

/** null for what only carries a cursor: heartbeats, and frames of types that are not known here. */
function itemOf(type: string | undefined, content: HeadraceEvent & StreamItem): StreamItem | null {
  if (type === 'draft') return { kind: 'draft', draft: content as never };
  if (type === 'draft.removed')
    return { ...(content as unknown as { threadId: string; messageId: string }), kind: 'draft.removed' };
  return typeof content.id === 'string' && typeof content.cursor === 'string'
    ? { kind: 'event', event: content }
    : null;
}

const streamError = ({ code, message }: { code: string; message: string }) =>
  new HeadraceError(code === 'cursor_expired' || code === 'cursor_scope_changed' ? 410 : 503, code, message);

function resetCode(error: unknown): 'cursor_expired' | 'cursor_scope_changed' | null {
  if (!(error instanceof HeadraceError) || error.status !== 410) return null;
  return error.code === 'cursor_expired' || error.code === 'cursor_scope_changed' ? error.code : null;
}

/** The newest ids, oldest forgotten first. */
class RecentIds {
  readonly #ids = new Set<string>();

  /** False when it is there already. */
  add(id: string): boolean {
    if (this.#ids.has(id)) return false;
    this.#ids.add(id);
    if (this.#ids.size > REMEMBERED_IDS) this.#ids.delete(this.#ids.values().next().value!);
    return true;
  }
}
