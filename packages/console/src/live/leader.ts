/** The tab that reads the feed, and tells the others. Only its messages change what they know of the service. */
import type { Client, HeadraceEvent, ReaderState } from '@headrace/client';
import { Feed } from './feed.ts';
import type { FeedStart } from './feed.ts';
import type { Message, SentStatus } from './messages.ts';
import { Soon } from './soon.ts';
import { newLink, stateOf } from './state.ts';
import type { Link } from './state.ts';
import type { Store } from './store.ts';

export interface LeaderOptions {
  id: string;
  client: Client;
  store: Store;
  /** Long polls, and no other tab to lead. */
  isPolled: boolean;
  isOnline(): boolean;
  /** When the data of the tab was last known to be true, before this tab led. */
  heardAt: number | null;
  post(message: Message): void;
  onBatch(): void;
  onRebase(isGap: boolean): void;
  onStatus(status: SentStatus): void;
  onSignedOut(): void;
}

/** Three heartbeats come in 45 s, after which the client connects again. */
const STREAM_SILENCE_MS = 20_000;
const POLL_SILENCE_MS = 40_000;
/** A connection that was lost brings what was missed in large pieces. */
const CATCHING_UP = 50;
const CATCH_UP_MS = 30_000;
/** No large piece for this long: nothing more was missed. */
const CAUGHT_UP_MS = 1_000;
const LONGEST_RECOVERY_MS = 10_000;
const LONGEST_WAIT_MS = 5_000;

export class Leader {
  readonly #options: LeaderOptions;
  readonly #feed: Feed;
  readonly #link: Link;
  readonly #soon = new Soon(() => this.#flush());
  #events: HeadraceEvent[] = [];
  #position: string | null = null;
  #recoveryEndsAt = 0;
  #openedAt = 0;
  #largeAt = 0;
  #last = '';
  #retry: ReturnType<typeof setTimeout> | undefined;

  constructor(options: LeaderOptions) {
    this.#options = options;
    this.#link = newLink(performance.now(), options.isPolled ? POLL_SILENCE_MS : STREAM_SILENCE_MS);
    this.#link.heardAt = options.heardAt;
    this.#link.isOnline = options.isOnline();
    this.#feed = new Feed({
      client: options.client,
      isPolled: options.isPolled,
      cursor: () => this.#position ?? options.store.cursor,
      onStart: (cursor, start) => this.#rebase(cursor, start),
      onEvent: (event) => {
        this.#events.push(event);
        this.#position = event.cursor;
        this.#soon.ask();
      },
      onPosition: (cursor) => {
        this.#position = cursor;
        this.#soon.ask();
      },
      onState: (state) => this.#enter(state),
      onHeard: () => this.#hear(),
      onSignedOut: options.onSignedOut,
    });
    this.#feed.restart();
    this.update();
  }

  /** Connects at once, unless the connection works or the service asks to wait. */
  check(): void {
    const now = performance.now();
    this.#link.isOnline = this.#options.isOnline();
    const isWorking = this.#link.phase === 'open' && now - (this.#link.heardAt ?? 0) <= this.#link.silenceMs;
    const mustWait = this.#link.isLimited && now < (this.#link.nextAttemptAt ?? 0);
    if (!isWorking && !mustWait && this.#link.isOnline) this.#feed.restart();
    this.update();
  }

  /** To be called when the tab comes online or goes offline: its connections are of another network. */
  changeNetwork(): void {
    const isOnline = this.#options.isOnline();
    if (isOnline === this.#link.isOnline) return;
    this.#lose();
    this.#link.isOnline = isOnline;
    if (isOnline) this.#feed.restart();
    else {
      clearTimeout(this.#retry);
      this.#feed.stop();
    }
    this.update();
  }

  /** To be called when everything shown was read again. */
  endRecovery(isSettled: boolean): void {
    if (!this.#link.isRecovering || (!isSettled && performance.now() < this.#recoveryEndsAt)) return;
    this.#link.isRecovering = false;
    this.update();
  }

  /** Answers a tab that has heard nothing, or that is new. */
  answer(tab: string | null, cursor: string | null): void {
    this.#flush();
    const { id, store, post } = this.#options;
    post({ kind: 'alive', leader: id, cursor: store.cursor, status: this.#sentStatus() });
    if (tab === null || store.cursor === null) return;
    const events = cursor === null ? null : store.recent.since(cursor);
    if (events) post({ kind: 'events', leader: id, to: tab, after: cursor!, events, cursor: store.cursor });
    else post({ kind: 'rebase', leader: id, to: tab, cursor: store.cursor, isGap: false });
  }

  /** Tells the state if it has changed; to be called now and then, since it also changes by time alone. */
  update(): void {
    if (performance.now() - this.#largeAt > CAUGHT_UP_MS) this.#link.isCatchingUp = false;
    const status = this.#sentStatus();
    this.#options.onStatus(status);
    const text = JSON.stringify([status.state, status.reason, this.#link.nextAttemptAt]);
    if (text === this.#last) return;
    this.#last = text;
    const { id, store, post } = this.#options;
    post({ kind: 'alive', leader: id, cursor: store.cursor, status });
  }

  stop(): void {
    clearTimeout(this.#retry);
    this.#feed.stop();
    this.#flush();
    this.#soon.stop();
  }

  #sentStatus(): SentStatus {
    const now = performance.now();
    const { heardAt, nextAttemptAt, reason } = this.#link;
    return {
      state: stateOf(this.#link, now),
      ageMs: heardAt === null ? null : now - heardAt,
      nextInMs: nextAttemptAt === null ? null : Math.max(0, nextAttemptAt - now),
      reason,
    };
  }

  #flush(): void {
    const { id, store, post, onBatch } = this.#options;
    const after = store.cursor;
    const cursor = this.#position;
    if (cursor === null || after === null || (this.#events.length === 0 && cursor === after)) return;
    const batch = { after, events: this.#events, cursor };
    this.#events = [];
    post({ kind: 'events', leader: id, ...batch });
    store.receive(batch);
    onBatch();
    this.#noteSize(batch.events.length);
    this.update();
  }

  #noteSize(count: number): void {
    const now = performance.now();
    this.#link.isCatchingUp = count >= CATCHING_UP && now - this.#openedAt < CATCH_UP_MS;
    this.#largeAt = now;
  }

  #rebase(cursor: string, { isGap, isNewHistory }: FeedStart): void {
    this.#flush();
    const { id, store, post, onRebase } = this.#options;
    this.#position = cursor;
    post({ kind: 'rebase', leader: id, cursor, isGap, isNewHistory });
    store.rebase(cursor, isNewHistory);
    if (isGap) {
      this.#link.isRecovering = true;
      this.#recoveryEndsAt = performance.now() + LONGEST_RECOVERY_MS;
    }
    onRebase(isGap);
    this.update();
  }

  #enter(state: ReaderState): void {
    const now = performance.now();
    const link = this.#link;
    clearTimeout(this.#retry);
    if (state.state === 'open') this.#open();
    else if (state.state === 'connecting') {
      this.#lose();
      link.phase = 'connecting';
      link.nextAttemptAt = null;
    } else if (state.state === 'waiting') {
      this.#lose();
      link.phase = 'waiting';
      link.reason = state.reason.message;
      link.isLimited = state.reason.status === 429;
      const delayMs = Math.max(0, state.nextAttemptAt.getTime() - Date.now());
      // Somebody watches: only what the service asks for is longer.
      const isTooLong = delayMs > LONGEST_WAIT_MS && state.reason.retryAfterMs === null;
      link.nextAttemptAt = now + (isTooLong ? LONGEST_WAIT_MS : delayMs);
      if (isTooLong) this.#retry = setTimeout(() => this.#feed.restart(), LONGEST_WAIT_MS);
    } else link.isRecovering = true;
    this.update();
  }

  #hear(): void {
    this.#link.heardAt = performance.now();
    if (this.#link.phase !== 'open') this.#open();
    this.update();
  }

  #open(): void {
    const now = performance.now();
    this.#openedAt = now;
    Object.assign(this.#link, {
      phase: 'open',
      reason: null,
      isLimited: false,
      nextAttemptAt: null,
      heardAt: now,
    });
  }

  #lose(): void {
    if (this.#link.phase !== 'open') return;
    this.#link.phase = 'connecting';
    this.#link.isCatchingUp = false;
    this.#link.lostAt = performance.now();
  }
}
