/**
 * A feed's stream across its connections.
 *
 *   connecting --answered--> open --lost, ended, cut--> waiting --> connecting, from the last cursor
 *   connecting, open --410--> reset --> connecting, from a new head
 *
 * Each connection starts after the last frame whose event the consumer has taken, so nothing is lost. Events
 * that arrive again are recognized by their ids.
 */
import { HeadraceError } from '../errors.ts';
import type { Code } from '../errors.ts';
import type { Http } from '../http.ts';
import type { HeadraceEvent } from '../generated/types.ts';
import { Connection } from './connection.ts';
import { ShownDraft } from './drafts.ts';
import type { Draft } from './drafts.ts';
import { captureHead, filtersOf, isLastOf, pathOf } from './feed.ts';
import type { Feed } from './feed.ts';
import type { Frame } from './frames.ts';
import { Patience } from './patience.ts';
import type { PatienceOptions, ResetCode } from './patience.ts';

export type StreamItem<E = HeadraceEvent> =
  | { kind: 'event'; event: E }
  /** Without a guarantee, and without a cursor. */
  | { kind: 'draft'; draft: Draft }
  | { kind: 'draft.removed'; threadId: string; messageId: string }
  /** Events may be missing before this: reload what you show, then continue. `cursor` is after the gap. */
  | { kind: 'reset'; code: ResetCode; cursor: string };

/** With the cursors of heartbeats, which say where to resume when no event has arrived. */
type PositionedItem = StreamItem | { kind: 'position'; cursor: string };

export interface StreamOptions extends PatienceOptions {
  /** Starts after this cursor; now when omitted. */
  cursor?: string;
  /** A connection without data for this long is lost. Default 45,000: three heartbeats. */
  silenceMs?: number;
}

const SILENCE_MS = 45_000;
/** A connection that lasts this long was not a failure, whatever it brought. */
const LASTING_MS = 30_000;
/** Far more than a resumed stream can repeat, since each event brings its cursor. */
const REMEMBERED_IDS = 1_000;

export async function* streamEvents(
  http: Http,
  feed: Feed,
  options: StreamOptions = {},
): AsyncGenerator<StreamItem> {
  for await (const item of positionedEvents(http, feed, options)) if (item.kind !== 'position') yield item;
}

export async function* positionedEvents(
  http: Http,
  feed: Feed,
  { cursor, silenceMs = SILENCE_MS, signal, onState, onHeard }: StreamOptions,
): AsyncGenerator<PositionedItem> {
  const patience = new Patience({ signal, onState });
  const head = () => captureHead(http, feed, { signal, onState });
  // Always from a cursor: without one, events before the first frame of a lost connection would be missed.
  const place = new Place(cursor ?? (await head()), patience);
  for (let resets = 0; ;) {
    let connection: Connection | null = null;
    let failure: unknown = new Error('the service has ended it');
    const openedAt = performance.now();
    patience.enter({ state: 'connecting' });
    try {
      const request = { path: `${pathOf(feed)}/stream`, query: filtersOf(feed), silenceMs, signal };
      connection = await Connection.open(http, { ...request, cursor: place.cursor });
      patience.enter({ state: 'open' });
      for (let frames: Frame[] | null; (frames = await connection.read());) {
        onHeard?.();
        for (const frame of frames) {
          for (const item of place.itemsOf(frame)) {
            yield item;
            if (item.kind === 'event') resets = 0;
            if (item.kind === 'event' && isLastOf(feed, item.event)) return;
          }
        }
      }
    } catch (error) {
      failure = error;
    } finally {
      connection?.close();
    }
    if (performance.now() - openedAt > LASTING_MS) patience.succeed();
    const code = resetCode(failure);
    if (code === null || resets++) await patience.wait(code === null ? failure : passing(failure));
    if (code !== null) yield* place.reset(code, await head());
  }
}

/** Where a stream is, and what it shows. */
class Place {
  cursor: string;
  readonly #patience: Patience;
  readonly #seen = new RecentIds();
  readonly #draft = new ShownDraft();

  constructor(cursor: string, patience: Patience) {
    this.cursor = cursor;
    this.#patience = patience;
  }

  /** Moves past a frame. */
  *itemsOf({ type, data, id }: Frame): Generator<PositionedItem> {
    const content = JSON.parse(data) as never;
    if (type === 'error') throw streamError(content);
    if (type === 'draft') return yield* this.#show(content);
    if (type === 'draft.removed') return yield* this.#remove(content);
    const isMoved = id !== '' && id !== this.cursor;
    if (isMoved) this.cursor = id;
    if (isEvent(content)) yield* this.#pass(content);
    else if (isMoved) yield { kind: 'position', cursor: id };
  }

  *reset(code: ResetCode, cursor: string): Generator<PositionedItem> {
    this.cursor = cursor;
    this.#patience.enter({ state: 'reset', code });
    yield* removalOf(this.#draft.take());
    yield { kind: 'reset', code, cursor };
  }

  *#pass(event: HeadraceEvent): Generator<PositionedItem> {
    if (!this.#seen.add(event.id)) return;
    this.#patience.succeed();
    yield { kind: 'event', event };
    yield* removalOf(this.#draft.endedBy(event));
  }

  *#show(draft: Draft): Generator<PositionedItem> {
    yield* removalOf(this.#draft.replacedBy(draft));
    if (this.#draft.show(draft)) yield { kind: 'draft', draft };
  }

  *#remove({ messageId }: Draft): Generator<PositionedItem> {
    if (this.#draft.isShown(messageId)) yield* removalOf(this.#draft.take());
  }
}

function* removalOf(draft: Draft | null): Generator<PositionedItem> {
  if (draft) yield { kind: 'draft.removed', threadId: draft.threadId, messageId: draft.messageId };
}

/** A heartbeat has only a cursor. A type that this client does not know is an event. */
const isEvent = (content: Partial<HeadraceEvent>): content is HeadraceEvent =>
  typeof content.id === 'string' && typeof content.cursor === 'string';

const streamError = ({ code, message }: { code: Code; message: string }) =>
  new HeadraceError(isReset(code) ? 410 : 503, code, message);

const isReset = (code: string): code is ResetCode =>
  code === 'cursor_expired' || code === 'cursor_scope_changed';

const resetCode = (error: unknown): ResetCode | null =>
  error instanceof HeadraceError && error.status === 410 && isReset(error.code) ? error.code : null;

/** A reset after a reset waits, as a failure does. */
const passing = (error: unknown) =>
  new HeadraceError(0, 'network_error', 'The cursor was refused again.', { cause: error });

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
