/**
 * One open event stream.
 *
 *   replaying --a page came that reached the log's end--> live
 *   replaying, live --access ended, scope changed, app deleted, service stops, reader gone or too slow-->
 *   ended
 *
 * Replaying reads the table page by page at the reader's pace. Before each read begins, the tail's events
 * are held: the read's snapshot is younger than all that the tail has read until then, so what the page's
 * end does not cover is among the held ones. The cut-over is one synchronous step: held events behind the
 * page's end go out, then the tail's. Neither gap nor double.
 */
import type { Context } from '../context.ts';
import type { Principal } from '../http/principal.ts';
import type { EventRow } from '../db/schema.ts';
import { ApiError } from '../http/errors.ts';
import { sseFrame } from '../http/sse.ts';
import type { SseConnection } from '../http/sse.ts';
import { requireGeneration, requireRetained, scopeChanged, sealPosition } from './cursor.ts';
import type { Binding } from './cursor.ts';
import { DraftShow } from './draft-show.ts';
import type { DraftFeed } from './drafts.ts';
import { isInScope, matches } from './filter.ts';
import type { EventFilter } from './filter.ts';
import type { LogPage, Position } from './store.ts';
import { eventView, positionOf } from './view.ts';

const PAGE = 500;
/**
 * Events that a replay keeps while it reads; with more it reads once more, since a reader must not be cut for
 * events that came during its replay.
 */
const HELD_LIMIT = 200;
/** A replay whose reader takes nothing for this long is cut. */
const STALLED_MS = 300_000;
/** Access that could not be checked for this long counts as ended. */
const UNCHECKED_LIMIT_MS = 60_000;

/** The events that an opened stream reads. `allows` throws when a principal may not read it (any more). */
export interface StreamRequest {
  filter: EventFilter;
  binding: Binding;
  position: Position;
  principal: Principal;
  allows: (principal: Principal) => void;
}

/** The state that the streams of a process share. */
export interface StreamHost {
  readonly heartbeatMs: number;
  readonly retentionSeconds: number;
  readonly secretKey: Buffer;
  readonly log: Context['log'];
  readonly drafts: DraftFeed;
  tailPosition(): Position;
  /** One page of a replay, when its turn comes. */
  read(filter: EventFilter, after: Position, limit: number): Promise<LogPage>;
  /** The frame of an event for all streams of one binding, made once. */
  frameOf(event: EventRow, binding: Binding, make: () => string): string;
  /** Counts the stream among the open ones until the returned function is called. */
  register(stream: EventStream): () => void;
  /** The caller's access as of now, when its turn comes; null when it has ended. */
  recheck(principal: Principal): Promise<Principal | null>;
  onAccessChanged(principal: Principal, listener: () => void): () => void;
}

export class EventStream {
  readonly #hub: StreamHost;
  readonly #connection: SseConnection;
  readonly #request: StreamRequest;
  readonly #drafts: DraftShow | null;
  readonly #ends: (() => void)[] = [];
  #phase: 'replaying' | 'live' | 'ended' = 'replaying';
  #position: Position;
  #held: EventRow[] | null = null;
  /**
   * The app's deletion, once the tail has seen it: the stream ends behind it, also where its types are
   * filtered out.
   */
  #lastSequence: number | null = null;
  #checkedAt = Date.now();
  #isChecking = false;
  #checkAgain = false;

  constructor(
    hub: StreamHost,
    connection: SseConnection,
    request: StreamRequest,
    subscribe: (listener: (events: readonly EventRow[]) => void) => () => void,
  ) {
    this.#hub = hub;
    this.#connection = connection;
    this.#request = request;
    this.#position = request.position;
    this.#drafts = request.filter.threadId === null ? null : new DraftShow(connection);
    this.#ends.push(subscribe((events) => this.#arrive(events)));
    const beat = setInterval(() => void this.#beat(), hub.heartbeatMs);
    this.#ends.push(
      () => clearInterval(beat),
      hub.register(this),
      hub.onAccessChanged(request.principal, () => void this.#recheck()),
    );
    connection.onClose(() => this.#close());
    this.#heartbeat();
    void this.#replay();
  }

  end(error?: ApiError): void {
    if (this.#phase === 'ended') return;
    if (error) this.#connection.send(sseFrame('error', { code: error.code, message: error.message }));
    this.#connection.end();
    this.#close();
  }

  #close(): void {
    this.#phase = 'ended';
    this.#drafts?.stop();
    for (const end of this.#ends.splice(0)) end();
  }

  #isEnded(): boolean {
    return this.#phase === 'ended';
  }

  async #replay(): Promise<void> {
    try {
      while (this.#phase === 'replaying') {
        this.#held = [];
        const page = await this.#hub.read(this.#request.filter, this.#position, PAGE);
        if (this.#isEnded()) return;
        requireGeneration(this.#request.binding, page.end);
        requireRetained(this.#position, page.end, this.#hub.retentionSeconds);
        if (!(await this.#sendPage(page))) return;
        if (page.rows.length < PAGE) this.#cutOver(page.end);
      }
    } catch (error) {
      if (!(error instanceof ApiError))
        this.#hub.log.warn({ err: error }, 'an event stream could not be replayed');
      this.end(error instanceof ApiError ? error : undefined);
    }
  }

  /** False when the reader has gone. */
  async #sendPage(page: LogPage): Promise<boolean> {
    for (const event of page.rows) {
      this.#position = positionOf(event);
      if (this.#connection.send(this.#makeFrame(event))) continue;
      if (!(await this.#connection.drained(STALLED_MS)) || this.#isEnded()) return false;
    }
    return true;
  }

  #cutOver(end: Position): void {
    this.#position = end;
    const held = this.#held;
    this.#held = null;
    if (held === null) return; // too much came meanwhile: read on
    this.#phase = 'live';
    this.#deliver(held);
    if (!this.#isEnded() && this.#drafts) this.#drafts.start(this.#hub, this.#request.filter.threadId!);
  }

  #arrive(events: readonly EventRow[]): void {
    const { filter } = this.#request;
    if (filter.feed === 'platform' && filter.projectId !== null) {
      const deletion = events.find((e) => e.type === 'platform.app.deleted' && isInScope(filter, e));
      // Also where a page brought it, or passed it by, before the tail has seen it.
      if (deletion) this.#lastSequence = deletion.sequence;
    }
    if (this.#phase === 'live') this.#deliver(events);
    else if (this.#held && this.#held.length + events.length > HELD_LIMIT) this.#held = null;
    else this.#held?.push(...events);
  }

  #deliver(events: readonly EventRow[]): void {
    const fresh = events.filter(
      (e) => e.sequence > this.#position.sequence && isInScope(this.#request.filter, e),
    );
    const frames: string[] = [];
    for (const event of fresh) {
      if (matches(this.#request.filter, event)) frames.push(this.#frame(event));
      const removal = this.#drafts?.supersede(event);
      if (removal) frames.push(removal);
    }
    const last = events.at(-1);
    if (last && last.sequence > this.#position.sequence) this.#position = positionOf(last);
    if (frames.length) this.#connection.sendLive(frames.join(''));
    if (this.#lastSequence !== null && this.#position.sequence >= this.#lastSequence) this.end();
  }

  /** The frame of a live event, made once for all streams of one binding. */
  #frame(event: EventRow): string {
    return this.#hub.frameOf(event, this.#request.binding, () => this.#makeFrame(event));
  }

  #makeFrame(event: EventRow): string {
    const view = eventView(event, this.#hub.secretKey, this.#request.binding);
    return sseFrame(view.type, view, view.cursor);
  }

  /** Sends the position where a reader of everything sent goes on: behind what was filtered out too. */
  #heartbeat(): void {
    const tail = this.#hub.tailPosition();
    const position =
      this.#phase === 'live' && tail.sequence >= this.#position.sequence ? tail : this.#position;
    const cursor = sealPosition(this.#hub.secretKey, this.#request.binding, position);
    if (!this.#connection.isCongested()) this.#connection.send(sseFrame('heartbeat', { cursor }, cursor));
  }

  async #beat(): Promise<void> {
    await this.#recheck();
    if (!this.#isEnded()) this.#heartbeat();
  }

  /** Reads the caller's access again; ends the stream when it may not read on. */
  async #recheck(): Promise<void> {
    if (this.#isChecking) {
      this.#checkAgain = true;
      return;
    }
    this.#isChecking = true;
    try {
      do {
        this.#checkAgain = false;
        const principal = await this.#hub.recheck(this.#request.principal);
        if (this.#isEnded()) return;
        this.#checkedAt = Date.now();
        this.#apply(principal);
      } while (this.#checkAgain && !this.#isEnded());
    } catch (error) {
      this.#hub.log.debug({ err: error }, 'the access of a stream could not be checked');
      if (Date.now() - this.#checkedAt > UNCHECKED_LIMIT_MS) this.end();
    } finally {
      this.#isChecking = false;
    }
  }

  #apply(next: Principal | null): void {
    const { principal, filter } = this.#request;
    if (!next) return this.end();
    try {
      this.#request.allows(next);
    } catch {
      return this.end();
    }
    if (
      isSameSet(principal.projectIds, next.projectIds) ||
      (filter.feed === 'platform' && filter.projectId !== null)
    )
      return;
    // The Direct feed's cursors outlive a change of scope: the reader comes back and sees what it may see
    // now.
    this.end(filter.feed === 'platform' ? scopeChanged() : undefined);
  }
}

const isSameSet = (a: ReadonlySet<string> | null, b: ReadonlySet<string> | null) =>
  a === null || b === null ? a === b : a.size === b.size && a.isSubsetOf(b);
