import type { EventRow } from '../db/schema.ts';
import type { Tail } from './tail.ts';

/** The tail's events from a moment on, kept until a stream or a waiting page takes them. */
export class Watch {
  #seen: EventRow[] = [];
  readonly #keep = (events: readonly EventRow[]) => {
    this.#seen.push(...events);
  };
  #listener = this.#keep;
  #wake = () => {};
  readonly #unsubscribe: () => void;
  readonly #onDone: () => void;

  constructor(tail: Tail, onDone: () => void) {
    this.#unsubscribe = tail.subscribe((events) => this.#listener(events));
    this.#onDone = onDone;
  }

  /** `listener` gets the kept events, and all that follow. */
  handOver(listener: (events: readonly EventRow[]) => void): () => void {
    const seen = this.#seen;
    this.#seen = [];
    this.#listener = listener;
    if (seen.length) listener(seen);
    return () => this.done();
  }

  /**
   * Resolves at the first event that fits, at `deadline` (ms) or when `signal` aborts. May be called again:
   * what comes in between is kept.
   */
  async first(fits: (event: EventRow) => boolean, deadline: number, signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.max(0, deadline - Date.now()));
      const end = () => {
        clearTimeout(timer);
        resolve();
      };
      this.#wake = end;
      signal.addEventListener('abort', end, { once: true });
      if (signal.aborted) end();
      this.handOver((events) => {
        if (events.some(fits)) end();
      });
    });
    this.#listener = this.#keep;
  }

  /** Ends the wait under way: what it waits for may never come. */
  wake(): void {
    this.#wake();
  }

  done(): void {
    this.#listener = () => {};
    this.#unsubscribe();
    this.#onDone();
  }
}
