/** A monotonic clock in milliseconds, with timers; tests have one of their own. */
export interface LeaseClock {
  now(): number;
  /** Calls back once; returns how to prevent it. */
  after(ms: number, call: () => void): () => void;
}

export const realClock: LeaseClock = {
  now: () => performance.now(),
  after(ms, call) {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
};

/**
 * How long a runner may keep what it has. Its workers count from when they accepted a call, which is later than
 * when it was sent: so the lease ends here before it ends there. There is none before the first call.
 */
export class Lease {
  readonly #clock: LeaseClock;
  readonly #onEnd: () => void;
  #endsAt = -Infinity;
  #cancel: () => void = () => {};

  constructor(onEnd: () => void, clock: LeaseClock = realClock) {
    this.#onEnd = onEnd;
    this.#clock = clock;
  }

  /** A call that was sent at `sentAt` was accepted. */
  extend(sentAt: number, seconds: number): void {
    const endsAt = sentAt + seconds * 1000;
    // An answer that was on its way for long tells less than the last one.
    if (endsAt <= this.#endsAt) return;
    this.#endsAt = endsAt;
    this.#cancel();
    this.#cancel = this.#clock.after(Math.max(0, endsAt - this.#clock.now()), this.#onEnd);
  }

  /** Milliseconds until its end; Infinity before the first call. */
  get leftMs(): number {
    return this.#endsAt === -Infinity ? Infinity : this.#endsAt - this.#clock.now();
  }

  stop(): void {
    this.#cancel();
  }
}
