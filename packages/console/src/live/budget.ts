/** The refetches that a user's tabs may send: 120 a minute, and none while the service asks to wait. */
const WINDOW_MS = 60_000;
const LIMIT = 120;

/** Times are of `performance.now`, which no change of the machine's clock moves. */
export class Budget {
  #spent: { at: number; cost: number }[] = [];
  #pausedUntil = 0;

  spend(now: number, cost: number): void {
    this.#spent.push({ at: now, cost });
  }

  /** No refetch for that long. */
  pause(now: number, ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, now + ms);
  }

  pausedMs(now: number): number {
    return Math.max(0, this.#pausedUntil - now);
  }

  /** Milliseconds until one more request may be sent; 0 for now. */
  waitMs(now: number): number {
    this.#spent = this.#spent.filter(({ at }) => now - at < WINDOW_MS);
    let sum = 0;
    let free = now;
    for (const { at, cost } of this.#spent.toReversed()) {
      sum += cost;
      if (sum < LIMIT) continue;
      free = at + WINDOW_MS;
      break;
    }
    return Math.max(0, free - now, this.#pausedUntil - now);
  }
}
