/** One feed as the leader reads it: its connection, its place in the log, and the events that no tab knows yet. */
import type { Client, ReaderState } from '@headrace/client';
import { Feed } from './feed.ts';
import type { FeedStart, Reading } from './feed.ts';
import type { Batch, LaneName, LiveEvent, Rebase } from './lanes.ts';
import { Soon } from './soon.ts';
import { newLink } from './state.ts';
import type { Link } from './state.ts';

export interface LaneOptions {
  name: LaneName;
  client: Client;
  read: Reading;
  isOnline(): boolean;
  /** When the data of the tab was last known to be true, before this tab led. */
  heardAt: number | null;
  /** Up to where the tab knows the feed; null before the first snapshot. */
  cursor(): string | null;
  onBatch(batch: Batch): void;
  onRebase(rebase: Rebase): void;
  /** The link is another one. */
  onChange(): void;
  onSignedOut(): void;
  onForbidden(): void;
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

export class Lane {
  readonly link: Link;
  readonly #options: LaneOptions;
  readonly #feed: Feed;
  readonly #soon = new Soon(() => this.flush());
  #events: LiveEvent[] = [];
  #position: string | null = null;
  #recoveryEndsAt = 0;
  #openedAt = 0;
  #largeAt = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;

  constructor(options: LaneOptions) {
    this.#options = options;
    this.link = newLink(performance.now(), options.read === 'streamed' ? STREAM_SILENCE_MS : POLL_SILENCE_MS);
    this.link.heardAt = options.heardAt;
    this.link.isOnline = options.isOnline();
    this.#feed = new Feed({
      name: options.name,
      client: options.client,
      read: options.read,
      cursor: () => this.#position ?? options.cursor(),
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
      onForbidden: options.onForbidden,
    });
  }

  /** Reads from the last cursor on, with a new connection. */
  start(): void {
    this.#feed.restart();
  }

  /** Connects at once, unless the connection works or the service asks to wait. */
  check(): void {
    const now = performance.now();
    const { link } = this;
    link.isOnline = this.#options.isOnline();
    const isWorking = link.phase === 'open' && now - (link.heardAt ?? 0) <= link.silenceMs;
    const mustWait = link.isLimited && now < (link.nextAttemptAt ?? 0);
    if (!isWorking && !mustWait && link.isOnline) this.start();
  }

  /** To be called when the tab comes online or goes offline: its connections are of another network. */
  changeNetwork(): void {
    const isOnline = this.#options.isOnline();
    if (isOnline === this.link.isOnline) return;
    this.#lose();
    this.link.isOnline = isOnline;
    if (isOnline) return this.start();
    clearTimeout(this.#retry);
    this.#feed.stop();
  }

  /** To be called when everything shown was read again. */
  endRecovery(isSettled: boolean): void {
    if (isSettled || performance.now() >= this.#recoveryEndsAt) this.link.isRecovering = false;
  }

  /** To be called now and then: it has caught up when nothing large has come for a while. */
  update(): void {
    if (performance.now() - this.#largeAt > CAUGHT_UP_MS) this.link.isCatchingUp = false;
  }

  flush(): void {
    const { name, onBatch } = this.#options;
    const after = this.#options.cursor();
    const cursor = this.#position;
    if (cursor === null || after === null || (this.#events.length === 0 && cursor === after)) return;
    const batch = { lane: name, after, events: this.#events, cursor };
    this.#events = [];
    this.#noteSize(batch.events.length);
    onBatch(batch);
  }

  stop(): void {
    clearTimeout(this.#retry);
    this.#feed.stop();
    this.flush();
    this.#soon.stop();
  }

  #noteSize(count: number): void {
    const now = performance.now();
    this.link.isCatchingUp = count >= CATCHING_UP && now - this.#openedAt < CATCH_UP_MS;
    this.#largeAt = now;
  }

  #rebase(cursor: string, { isGap, isNewHistory }: FeedStart): void {
    this.flush();
    this.#position = cursor;
    if (isGap) {
      this.link.isRecovering = true;
      this.#recoveryEndsAt = performance.now() + LONGEST_RECOVERY_MS;
    }
    this.#options.onRebase({ lane: this.#options.name, cursor, isGap, isNewHistory });
  }

  #enter(state: ReaderState): void {
    const now = performance.now();
    const { link } = this;
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
      const { status, retryAfterMs } = state.reason;
      const isRefused = status >= 400 && status < 500;
      // Somebody watches: only what the service asks for is longer, and what it refuses.
      const isTooLong = delayMs > LONGEST_WAIT_MS && retryAfterMs === null && !isRefused;
      link.nextAttemptAt = now + (isTooLong ? LONGEST_WAIT_MS : delayMs);
      if (isTooLong) this.#retry = setTimeout(() => this.start(), LONGEST_WAIT_MS);
    } else link.isRecovering = true;
    this.#options.onChange();
  }

  #hear(): void {
    this.link.heardAt = performance.now();
    if (this.link.phase !== 'open') this.#open();
    this.#options.onChange();
  }

  #open(): void {
    const now = performance.now();
    this.#openedAt = now;
    Object.assign(this.link, {
      phase: 'open',
      reason: null,
      isLimited: false,
      nextAttemptAt: null,
      heardAt: now,
    });
  }

  #lose(): void {
    if (this.link.phase !== 'open') return;
    this.link.phase = 'connecting';
    this.link.isCatchingUp = false;
    this.link.lostAt = performance.now();
  }
}
