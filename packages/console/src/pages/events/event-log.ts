/**
 * The events that a page shows, newest first: read back page by page, with those that come put before them, or held.
 *
 *   newer   came while the page was open, in order
 *   older   read back from the end of the log, newest first
 *   held    came while the reader looks at something: shown when asked for
 *
 * Nothing is copied when events come, so that ten thousands cost no more than a few.
 */
import { HeadraceError } from '@headrace/client';
import type { EventPage, Feed } from '@headrace/client';
import { matches } from './filter.ts';
import type { AnyEvent, Filter } from './filter.ts';

/** An event, and the feed that its cursor belongs to. */
export interface Shown {
  event: AnyEvent;
  feed: Feed;
}

export interface LogState {
  phase: 'reading' | 'shown' | 'failed';
  /** Why nothing is shown. */
  error: unknown;
  count: number;
  held: number;
  isReadingOlder: boolean;
  olderError: unknown;
  /** What may be missing since the live store was connected again. */
  missed: 'nothing' | 'reading' | 'failed';
  /** Where the list ends: there is more to read, nothing is older, it is kept no more, or this page let it go. */
  end: 'more' | 'whole' | 'expired' | 'cut';
}

interface Options {
  filter: Filter;
  /** Of what is read, and of what comes. */
  feed: Feed;
  liveFeed: Feed;
  /** A page, newest first; null: the first one. */
  read: (cursor: string | null, signal: AbortSignal) => PromiseLike<EventPage<AnyEvent>>;
}

/** More that came are let go, with all that was read back: the page stays quick however long it is open. */
export const MOST_NEWER = 20_000;
/** Of held ones, only so many are kept: then the log is read again. */
export const MOST_HELD = 5_000;
/** Pages that are read to close a gap. */
const MOST_CATCH_UP = 5;
/** What comes is shown so often. */
const SHOWN_EVERY_MS = 100;

const FIRST: LogState = {
  phase: 'reading',
  error: null,
  count: 0,
  held: 0,
  isReadingOlder: false,
  olderError: null,
  missed: 'nothing',
  end: 'more',
};

export class EventLog {
  readonly #options: Options;
  readonly #listeners = new Set<() => void>();
  #state = FIRST;
  #ids = new Set<string>();
  #newer: Shown[] = [];
  #older: Shown[] = [];
  #held: Shown[] = [];
  #heldCount = 0;
  #cursor: string | null = null;
  /** Up to here, nothing is missing. */
  #anchor = -1n;
  #reading = new AbortController();
  #catchingUp = new AbortController();
  #started: Promise<void> = Promise.resolve();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: Options) {
    this.#options = options;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
  /** Another object after each change. */
  readonly state = (): LogState => this.#state;

  /** From 0, the newest one. */
  at(index: number): Shown | undefined {
    const { length } = this.#newer;
    return index < length ? this.#newer[length - 1 - index] : this.#older[index - length];
  }

  /** -1 for one that is not there. */
  indexOf(id: string): number {
    if (!this.#ids.has(id)) return -1;
    const at = this.#newer.findIndex(({ event }) => event.id === id);
    if (at !== -1) return this.#newer.length - 1 - at;
    const back = this.#older.findIndex(({ event }) => event.id === id);
    return back === -1 ? -1 : this.#newer.length + back;
  }

  /** Reads the newest page, and forgets what was read before. */
  start(): Promise<void> {
    return (this.#started = this.#start());
  }

  async #start(): Promise<void> {
    this.stop();
    const { signal } = (this.#reading = new AbortController());
    this.#forget();
    this.#set(FIRST);
    try {
      const page = await this.#options.read(null, signal);
      if (signal.aborted) return;
      // What came meanwhile may be in the page.
      const newest = BigInt(page.events[0]?.sequence ?? -1);
      const came = [...this.#newer, ...this.#held].filter(({ event }) => BigInt(event.sequence) > newest);
      this.#forget();
      this.#append(page);
      this.#anchor = newest;
      this.#newer = came;
      for (const { event } of came) this.#ids.add(event.id);
      this.#set({ phase: 'shown' });
    } catch (error) {
      if (!signal.aborted) this.#set({ phase: 'failed', error });
    }
  }

  /** Ends what is being read. */
  stop(): void {
    this.#reading.abort();
    this.#catchingUp.abort();
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** The next page back. Where one is being read, nothing. */
  async readOlder(): Promise<void> {
    const { phase, isReadingOlder, end } = this.#state;
    if (phase !== 'shown' || isReadingOlder || end !== 'more') return;
    const { signal } = this.#reading;
    this.#set({ isReadingOlder: true, olderError: null });
    try {
      const page = await this.#options.read(this.#cursor, signal);
      if (signal.aborted) return;
      // Meanwhile, so many may have come that all that was read back was let go.
      if (this.#state.end === 'more') this.#append(page);
      this.#set({ isReadingOlder: false });
    } catch (error) {
      if (signal.aborted) return;
      const isExpired = error instanceof HeadraceError && error.status === 410;
      this.#set(
        isExpired ? { isReadingOlder: false, end: 'expired' } : { isReadingOlder: false, olderError: error },
      );
    }
  }

  /** Events of the live store. Returns those that match. */
  take(events: readonly AnyEvent[], isHeld: boolean): AnyEvent[] {
    const { filter, liveFeed } = this.#options;
    const fresh = this.#unknown(events.filter((event) => matches(filter, event)));
    this.#add(
      fresh.map((event) => ({ event, feed: liveFeed })),
      isHeld,
    );
    return fresh;
  }

  /** Shows what is held. */
  release(): void {
    if (this.#heldCount === 0) return;
    if (this.#heldCount > MOST_HELD) return void this.start();
    const held = this.#held;
    this.#held = [];
    this.#heldCount = 0;
    this.#put(held);
    this.#set({});
  }

  /** From here on, events may be missed: `catchUp` reads back to here. */
  mark(): void {
    // What was missed before is still to be read.
    if (this.#state.missed !== 'nothing') return;
    const newest = this.#held.at(-1) ?? this.at(0);
    if (newest) this.#anchor = BigInt(newest.event.sequence);
  }

  /**
   * Reads what was missed while the live store was not connected; again from the start if that is too much. Where it
   * fails, the state says so: it is to be called again.
   */
  async catchUp(isHeld: boolean): Promise<void> {
    this.#catchingUp.abort();
    const { signal } = (this.#catchingUp = new AbortController());
    this.#set({ missed: 'reading' });
    try {
      // What is being read may be older than the place where the live store begins.
      await this.#started;
      if (signal.aborted) return;
      // Where too many are held, the log is read again with them.
      const isNeeded = this.#state.phase === 'shown' && this.#heldCount <= MOST_HELD;
      if (isNeeded) {
        const missed = await this.#readMissed(signal);
        if (signal.aborted) return;
        if (!missed) return await this.start();
        const { feed } = this.#options;
        this.#add(
          this.#unknown(missed).map((event) => ({ event, feed })),
          isHeld,
        );
      }
      this.#set({ missed: 'nothing' });
    } catch {
      if (!signal.aborted) this.#set({ missed: 'failed' });
    }
  }

  /** In order; null if that is too much. */
  async #readMissed(signal: AbortSignal): Promise<AnyEvent[] | null> {
    const missed: AnyEvent[] = [];
    let cursor: string | null = null;
    for (let pages = 0; pages < MOST_CATCH_UP && !signal.aborted; pages++) {
      const page: EventPage<AnyEvent> = await this.#options.read(cursor, signal);
      missed.push(...page.events);
      const isJoined = page.events.some(({ sequence }) => BigInt(sequence) <= this.#anchor);
      if (isJoined || !page.hasMore) return missed.toReversed();
      cursor = page.nextCursor;
    }
    return null;
  }

  #append({ events, nextCursor, hasMore }: EventPage<AnyEvent>): void {
    for (const event of events) {
      if (this.#ids.has(event.id)) continue;
      this.#ids.add(event.id);
      this.#older.push({ event, feed: this.#options.feed });
    }
    this.#cursor = nextCursor;
    this.#set({ end: hasMore ? 'more' : 'whole' });
  }

  #unknown(events: readonly AnyEvent[]): AnyEvent[] {
    return events.filter(({ id }) => !this.#ids.has(id));
  }

  #add(fresh: readonly Shown[], isHeld: boolean): void {
    if (fresh.length === 0) return;
    if (isHeld) this.#hold(fresh);
    else {
      this.#note(fresh);
      this.#put(fresh);
    }
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#set({});
    }, SHOWN_EVERY_MS);
  }

  /** Too many are only counted. */
  #hold(fresh: readonly Shown[]): void {
    this.#heldCount += fresh.length;
    if (this.#heldCount > MOST_HELD) {
      this.#held = [];
      return;
    }
    this.#note(fresh);
    join(this.#held, fresh);
  }

  #note(fresh: readonly Shown[]): void {
    for (const { event } of fresh) this.#ids.add(event.id);
  }

  #put(fresh: readonly Shown[]): void {
    join(this.#newer, fresh);
    if (this.#newer.length <= MOST_NEWER) return;
    this.#newer = this.#newer.slice(-MOST_NEWER / 2);
    this.#older = [];
    this.#ids = new Set([...this.#newer, ...this.#held].map(({ event }) => event.id));
    this.#set({ end: 'cut' });
  }

  #forget(): void {
    this.#ids = new Set();
    this.#newer = [];
    this.#older = [];
    this.#held = [];
    this.#heldCount = 0;
    this.#cursor = null;
  }

  #set(change: Partial<LogState>): void {
    this.#state = {
      ...this.#state,
      ...change,
      count: this.#newer.length + this.#older.length,
      held: this.#heldCount,
    };
    for (const listener of this.#listeners) listener();
  }
}

/** What was missed and what came meanwhile are each in order. */
function join(events: Shown[], fresh: readonly Shown[]): void {
  const last = events.at(-1);
  events.push(...fresh);
  if (last && fresh[0] && BigInt(fresh[0].event.sequence) < BigInt(last.event.sequence))
    events.sort((a, b) => (BigInt(a.event.sequence) < BigInt(b.event.sequence) ? -1 : 1));
}
