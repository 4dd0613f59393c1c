/** The feeds: of one app, or of all apps that the key reads. A cursor belongs to one feed and its filters. */
import { setTimeout as sleep } from 'node:timers/promises';
import { HeadraceError } from './errors.ts';
import type { Code } from './errors.ts';
import { backoff, readJson } from './http.ts';
import type { CallOptions } from './options.ts';
import type { Http, Query } from './http.ts';
import { framesOf } from './sse.ts';
import type { HeadraceEvent } from './generated/types.ts';

export interface Feed {
  /** All apps when left out. */
  appId?: string;
  /** A stream then also carries the thread's drafts. */
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
  /** Events may be missing before this: reload what you show, then read on. `cursor` follows the gap. */
  | { kind: 'reset'; code: 'cursor_expired' | 'cursor_scope_changed'; cursor: string };

type ListOptions = CallOptions & { cursor?: string; limit?: number; waitSeconds?: number };
type ReplayOptions = CallOptions & { cursor?: string; follow?: boolean };
type StreamOptions = CallOptions & { cursor?: string };

export interface Events {
  /** A cursor at the feed's end. */
  head(feed: Feed, options?: CallOptions): Promise<string>;
  /**
   * One page; without a cursor it starts at the oldest event that is kept. With `waitSeconds` (0-30) an
   * empty page waits for events.
   */
  list(feed: Feed, options?: ListOptions): Promise<EventPage>;
  /**
   * Every event after the cursor, once, in order: up to the feed's present end, or endlessly with `follow`.
   * Throws a 410 as HeadraceError.
   */
  replay(feed: Feed, options?: ReplayOptions): AsyncGenerator<HeadraceEvent>;
  /**
   * Every event after the cursor (default: now), once, and drafts. Resumes by itself after a lost
   * connection; a 410 becomes an item of kind `reset`. Ends when the caller stops or the app is deleted;
   * throws when the key may no longer read.
   */
  stream(feed: Feed, options?: StreamOptions): AsyncGenerator<StreamItem>;
}

const PAGE = 500;
const FOLLOW_SECONDS = 25;
/** Three heartbeats. */
const SILENCE_MS = 45_000;
/** Attempts to resume a stream, on top of the retries of each request. */
const RECONNECTS = 20;
/** Far more than a resumed stream can repeat, since each event brings its cursor. */
const REMEMBERED_IDS = 1_000;

export const createEvents = (http: Http): Events => ({
  head: (feed, options) => readHead(http, feed, options),
  list: (feed, options) => listEvents(http, feed, options),
  replay: (feed, options) => replayEvents(http, feed, options),
  stream: (feed, options) => streamEvents(http, feed, options),
});

const rootOf = ({ appId }: Feed): string =>
  `/api/platform/v1${appId === undefined ? '' : `/apps/${encodeURIComponent(appId)}`}/events`;

const filtersOf = ({ threadId, runId, types }: Feed): Query => ({
  threadId,
  runId,
  types: types?.join(','),
});

async function readHead(http: Http, feed: Feed, options: CallOptions = {}): Promise<string> {
  const request = { ...options, method: 'GET', path: `${rootOf(feed)}/head`, query: filtersOf(feed) };
  return (await http.send(request, readJson<{ cursor: string }>)).data.cursor;
}

async function listEvents(
  http: Http,
  feed: Feed,
  { cursor, limit, waitSeconds, ...options }: ListOptions = {},
): Promise<EventPage> {
  const query = { ...filtersOf(feed), cursor, limit, waitSeconds };
  const request = { ...options, method: 'GET', path: rootOf(feed), query };
  return (await http.send(request, readJson<EventPage>)).data;
}

async function* replayEvents(
  http: Http,
  feed: Feed,
  { cursor, follow = false, ...options }: ReplayOptions = {},
): AsyncGenerator<HeadraceEvent> {
  for (let at = cursor; ;) {
    const page = await listEvents(http, feed, {
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

async function* streamEvents(
  http: Http,
  feed: Feed,
  { cursor, ...options }: StreamOptions = {},
): AsyncGenerator<StreamItem> {
  const seen = new RecentIds();
  // Always from a cursor: without one, events before the first frame of a lost connection would be missed.
  let at = cursor ?? (await readHead(http, feed, options));
  for (let failures = 0; failures < RECONNECTS; failures++) {
    try {
      for await (const { item, cursor: next } of connect(http, feed, at, options)) {
        if (next !== null) at = next;
        if (item === null || (item.kind === 'event' && !seen.add(item.event.id))) continue;
        if (item.kind !== 'open') failures = 0;
        yield item;
        if (item.kind === 'event' && isLastOf(feed, item.event)) return;
      }
    } catch (error) {
      if (options.signal?.aborted) throw error;
      const code = resetCode(error);
      if (code === null && error instanceof HeadraceError && error.status !== 0) throw error;
      if (code !== null) {
        at = await readHead(http, feed, options);
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

/** One connection of a stream until it ends; `cursor`: where the next one resumes. */
async function* connect(
  http: Http,
  feed: Feed,
  cursor: string,
  options: CallOptions,
): AsyncGenerator<{ item: StreamItem | null; cursor: string | null }> {
  const response = await http.open({
    ...options,
    method: 'GET',
    path: `${rootOf(feed)}/stream`,
    query: filtersOf(feed),
    headers: { accept: 'text/event-stream', 'last-event-id': cursor },
  });
  yield { item: { kind: 'open' }, cursor: null };
  for await (const { event: type, data, id } of framesOf(response.body!, SILENCE_MS)) {
    const content = JSON.parse(data) as never;
    if (type === 'error') throw streamError(content);
    yield { item: itemOf(type, content), cursor: id || null };
  }
}

const isLastOf = (feed: Feed, event: HeadraceEvent): boolean =>
  event.type === 'platform.app.deleted' && event.appId === feed.appId;

/** null for frames that only carry a cursor: heartbeats, and types that this client does not know. */
function itemOf(type: string | undefined, content: HeadraceEvent & StreamItem): StreamItem | null {
  if (type === 'draft') return { kind: 'draft', draft: content as never };
  if (type === 'draft.removed')
    return { ...(content as unknown as { threadId: string; messageId: string }), kind: 'draft.removed' };
  return typeof content.id === 'string' && typeof content.cursor === 'string'
    ? { kind: 'event', event: content }
    : null;
}

const streamError = ({ code, message }: { code: string; message: string }) =>
  new HeadraceError(
    code === 'cursor_expired' || code === 'cursor_scope_changed' ? 410 : 503,
    code as Code,
    message,
  );

function resetCode(error: unknown): 'cursor_expired' | 'cursor_scope_changed' | null {
  if (!(error instanceof HeadraceError) || error.status !== 410) return null;
  return error.code === 'cursor_expired' || error.code === 'cursor_scope_changed' ? error.code : null;
}

/** The newest ids; the oldest are forgotten first. */
class RecentIds {
  readonly #ids = new Set<string>();

  /** False when it is already present. */
  add(id: string): boolean {
    if (this.#ids.has(id)) return false;
    this.#ids.add(id);
    if (this.#ids.size > REMEMBERED_IDS) this.#ids.delete(this.#ids.values().next().value!);
    return true;
  }
}
