/** One feed, read by one tab: as a stream, or by polls where tabs cannot share one. */
import { HeadraceError } from '@headrace/client';
import type { Client, ReaderState } from '@headrace/client';
import { FEEDS } from './lanes.ts';
import type { LaneName, LiveEvent } from './lanes.ts';

export interface FeedStart {
  /** Events before it were missed. */
  isGap: boolean;
  /** The service does not know the cursor: it is another service, or has lost its history. */
  isNewHistory: boolean;
}

export interface FeedOptions {
  name: LaneName;
  client: Client;
  read: Reading;
  /** Where to continue; null to start at the feed's end. */
  cursor(): string | null;
  /** Everything is to be read again, and the events after this cursor follow. */
  onStart(cursor: string, start: FeedStart): void;
  onEvent(event: LiveEvent): void;
  /** No event has arrived up to this cursor. */
  onPosition(cursor: string): void;
  onState(state: ReaderState): void;
  onHeard(): void;
  onSignedOut(): void;
  /** The user may no longer read it. */
  onForbidden(): void;
}

/** `asked`: again and again, without a connection that stays. */
export type Reading = 'streamed' | 'polled' | 'asked';

/** A refusal that waiting alone does not change is asked about again this much later. */
const REFUSED_MS = 30_000;
const ASK_MS = 3_000;

export class Feed {
  readonly #options: FeedOptions;
  #reading: AbortController | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The cursor belongs to another feed, or to another life of the service. */
  #isCursorRefused = false;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  /** Reads from the last cursor on, with a new connection. */
  restart(): void {
    this.stop();
    const reading = new AbortController();
    this.#reading = reading;
    void this.#run(reading.signal);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#reading?.abort(new Error('the reader has ended'));
    this.#reading = null;
  }

  async #run(signal: AbortSignal): Promise<void> {
    const cursor = this.#isCursorRefused ? null : this.#options.cursor();
    const start = (at: string, reason: string) => {
      if (signal.aborted) return;
      const isNewHistory = this.#isCursorRefused;
      this.#options.onStart(at, { isGap: reason !== 'start' || isNewHistory, isNewHistory });
      this.#isCursorRefused = false;
    };
    try {
      await (this.#options.read === 'streamed' ? this.#stream : this.#poll).call(this, cursor, start, signal);
    } catch (error) {
      if (!signal.aborted) this.#fail(error);
    }
  }

  #stream(cursor: string | null, start: Start, signal: AbortSignal): Promise<void> {
    const { name, client, onEvent, onPosition, onState, onHeard } = this.#options;
    return client.events.view(FEEDS[name], {
      ...(cursor !== null && { cursor }),
      load: start,
      apply: (event) => void (signal.aborted || onEvent(event)),
      save: (at) => void (signal.aborted || onPosition(at)),
      onState: (state) => void (signal.aborted || onState(state)),
      onHeard: () => void (signal.aborted || onHeard()),
      signal,
    });
  }

  async #poll(cursor: string | null, start: Start, signal: AbortSignal): Promise<void> {
    const { name, client, read, onEvent, onState, onHeard } = this.#options;
    const feed = FEEDS[name];
    const own = { onState, onHeard, signal };
    let reason = 'start';
    for (let at = cursor; ;) {
      if (at === null) start((at = await client.events.head(feed, { signal })), reason);
      try {
        for (const follow of read === 'polled' ? [false, true] : [false])
          for await (const event of client.events.replay(feed, { ...own, cursor: at, follow })) {
            signal.throwIfAborted();
            at = event.cursor;
            onEvent(event);
          }
        // `stop` ends the wait, and with it this.
        await new Promise((resolve) => (this.#timer = setTimeout(resolve, ASK_MS)));
      } catch (error) {
        if (!(error instanceof HeadraceError) || error.status !== 410) throw error;
        reason = error.code;
        at = null;
      }
    }
  }

  #fail(error: unknown): void {
    if (error instanceof HeadraceError && error.status === 401) return this.#options.onSignedOut();
    if (error instanceof HeadraceError && error.code === 'invalid_cursor') {
      this.#isCursorRefused = true;
      return this.restart();
    }
    if (error instanceof HeadraceError && error.status === 403) this.#options.onForbidden();
    const message = error instanceof Error ? error.message : String(error);
    const reason = error instanceof HeadraceError ? error : new HeadraceError(0, 'network_error', message);
    const delayMs = reason.status >= 400 && reason.status < 500 ? REFUSED_MS : REFUSED_MS / 10;
    const nextAttemptAt = new Date(Date.now() + delayMs);
    this.#options.onState({ state: 'waiting', reason, attempt: 1, nextAttemptAt });
    this.#timer = setTimeout(() => this.restart(), delayMs);
  }
}

type Start = (cursor: string, reason: string) => void;
