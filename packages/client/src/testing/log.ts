/** The event log: list, head and stream, with cursors that belong to a feed and its filters. */
import { Fault, invalid } from './fault.ts';
import { numberOf } from './input.ts';
import { sha256 } from './sha256.ts';

/** An event as it is stored: its cursor depends on the feed that shows it. */
export interface LoggedEvent {
  id: string;
  type: string;
  sequence: string;
  orgId: string;
  appId: string;
  projectId: string;
  threadId: string | null;
  runId: string | null;
  data: Record<string, unknown>;
  occurredAt: string;
  publishedAt: string;
}

export interface Draft {
  threadId: string;
  messageId: string;
  runId: string;
  revision: number;
  content: string;
}

/** What streams see; drafts only if the filter is their thread. */
type Notice = { event: LoggedEvent } | { draft: Draft } | { removed: Draft };

interface Feed {
  appId: string | null;
  threadId: string | null;
  runId: string | null;
  types: string[] | null;
}

const HEARTBEAT_MS = 15_000;
const HASH_LENGTH = 12;
const encoder = new TextEncoder();

export class EventLog {
  readonly #events: LoggedEvent[] = [];
  readonly #listeners = new Set<(notice: Notice | null) => void>();
  readonly drafts = new Map<string, Draft>();
  /** The events before it are no longer kept. */
  #first = 0;
  #generation = 1;

  append(event: Omit<LoggedEvent, 'sequence'>): void {
    const logged = { ...event, sequence: String(this.#events.length + 1) };
    this.#events.push(logged);
    this.#notify({ event: logged });
  }

  showDraft(draft: Draft): void {
    this.drafts.set(draft.threadId, draft);
    this.#notify({ draft });
  }

  removeDraft(threadId: string): void {
    const removed = this.drafts.get(threadId);
    this.drafts.delete(threadId);
    if (removed) this.#notify({ removed });
  }

  /** Expires all cursors so far, with 410 `cursor_expired`, and ends open streams. */
  expireCursors(): void {
    this.#generation++;
    this.#first = this.#events.length;
    this.dropStreams();
  }

  dropStreams(): void {
    this.#notify(null);
  }

  /** Resolves with the next notice, at the deadline, or when the caller aborts. */
  changed(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#listeners.delete(done);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.#listeners.add(done);
      signal?.addEventListener('abort', done);
    });
  }

  #notify(notice: Notice | null): void {
    for (const listener of this.#listeners) listener(notice);
  }

  head(appId: string | null, query: URLSearchParams) {
    return { cursor: this.#seal(feedOf(appId, query), this.#events.length) };
  }

  async list(appId: string | null, query: URLSearchParams, signal: AbortSignal | undefined) {
    const feed = feedOf(appId, query);
    const limit = numberOf(query, 'limit', [1, 500, 100]);
    const until = Date.now() + numberOf(query, 'waitSeconds', [0, 30, 0]) * 1000;
    const cursor = query.get('cursor');
    for (;;) {
      const after = cursor === null ? this.#first : this.#open(feed, cursor);
      const found = this.#events.slice(after).filter((event) => isOf(feed, event));
      const left = until - Date.now();
      if (found.length === 0 && left > 0 && !signal?.aborted) {
        await this.changed(left, signal);
        continue;
      }
      const shown = found.slice(0, limit);
      const hasMore = found.length > limit;
      const end = hasMore ? Number(shown.at(-1)!.sequence) : this.#events.length;
      const events = shown.map((event) => this.#view(feed, event));
      return { events, nextCursor: events.length ? events.at(-1)!.cursor : this.#seal(feed, end), hasMore };
    }
  }

  stream(
    appId: string | null,
    query: URLSearchParams,
    lastEventId: string | null,
  ): (signal?: AbortSignal) => ReadableStream<Uint8Array> {
    const feed = feedOf(appId, query);
    const cursor = lastEventId || query.get('cursor');
    const after = cursor === null ? this.#events.length : this.#open(feed, cursor);
    return (signal) => this.#openStream(feed, after, signal);
  }

  #openStream(feed: Feed, after: number, signal: AbortSignal | undefined): ReadableStream<Uint8Array> {
    let stop = (): void => undefined;
    return new ReadableStream<Uint8Array>({
      start: (controller) => {
        const send = (text: string) => controller.enqueue(encoder.encode(text));
        const beat = () => send(heartbeat(this.#seal(feed, this.#events.length)));
        send(heartbeat(this.#seal(feed, after)));
        for (const event of this.#events.slice(after)) if (isOf(feed, event)) send(this.#frame(feed, event));
        const draft = feed.threadId === null ? undefined : this.drafts.get(feed.threadId);
        if (draft) send(frame('draft', draft));
        const take = (notice: Notice | null) => {
          if (notice) send(this.#textOf(feed, notice));
          const isLast =
            notice &&
            'event' in notice &&
            feed.appId !== null &&
            notice.event.appId === feed.appId &&
            notice.event.type === 'platform.app.deleted';
          if (notice && !isLast) return;
          stop();
          controller.close();
        };
        const abort = () => {
          stop();
          controller.error(signal!.reason);
        };
        const timer = setInterval(beat, HEARTBEAT_MS);
        stop = () => {
          clearInterval(timer);
          this.#listeners.delete(take);
          signal?.removeEventListener('abort', abort);
        };
        this.#listeners.add(take);
        signal?.addEventListener('abort', abort);
      },
      cancel: () => stop(),
    });
  }

  #textOf(feed: Feed, notice: Notice): string {
    if ('event' in notice) return isOf(feed, notice.event) ? this.#frame(feed, notice.event) : '';
    const draft = 'draft' in notice ? notice.draft : notice.removed;
    if (draft.threadId !== feed.threadId) return '';
    const { threadId, messageId } = draft;
    return 'draft' in notice ? frame('draft', draft) : frame('draft.removed', { threadId, messageId });
  }

  #frame(feed: Feed, event: LoggedEvent): string {
    const view = this.#view(feed, event);
    return frame(event.type, view, view.cursor);
  }

  #view(feed: Feed, event: LoggedEvent) {
    return { ...event, cursor: this.#seal(feed, Number(event.sequence)) };
  }

  #seal(feed: Feed, sequence: number): string {
    return `${hashOf(feed)}-${this.#generation}-${sequence}`;
  }

  #open(feed: Feed, cursor: string): number {
    const [hash, generation, sequence] = cursor.split('-');
    if (hash !== hashOf(feed) || !/^\d+$/.test(sequence ?? ''))
      throw new Fault('invalid_cursor', 'This cursor does not belong to this feed and its filters.');
    if (generation !== String(this.#generation))
      throw new Fault(
        'cursor_expired',
        'This cursor is older than the events that are kept. Capture a new head.',
      );
    return Number(sequence);
  }
}

function feedOf(appId: string | null, query: URLSearchParams): Feed {
  const types = query.get('types')?.split(',').toSorted() ?? null;
  if (types?.includes(''))
    throw invalid({ path: '/query/types', message: 'must be types, separated by commas' });
  return { appId, threadId: query.get('threadId'), runId: query.get('runId'), types };
}

const hashOf = (feed: Feed): string => sha256(encoder.encode(JSON.stringify(feed))).slice(0, HASH_LENGTH);

const isOf = (feed: Feed, event: LoggedEvent): boolean =>
  (feed.appId === null || event.appId === feed.appId) &&
  (feed.threadId === null || event.threadId === feed.threadId) &&
  (feed.runId === null || event.runId === feed.runId) &&
  (feed.types === null || feed.types.includes(event.type));

const frame = (type: string, data: unknown, id?: string): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
const heartbeat = (cursor: string): string => frame('heartbeat', { cursor }, cursor);
