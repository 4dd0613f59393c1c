/** How many events came in the last minute, and how old each was when it came. */

const SECONDS = 60;
/** Over so many seconds, a rate is calm enough to read. */
const RATE_SECONDS = 10;

export interface Rates {
  perSecond: number;
  /** Of each second, the oldest first: the age in milliseconds of the oldest event that came; null for none. */
  ages: (number | null)[];
  /** The greatest of them; null where none came. */
  most: number | null;
}

export class Arrivals {
  /** By second. */
  readonly #seconds = new Map<number, { count: number; age: number }>();

  /** Times in milliseconds, by the service's clock. */
  add(occurredAt: readonly number[], now: number): void {
    if (occurredAt.length === 0) return;
    const second = Math.floor(now / 1000);
    const before = this.#seconds.get(second);
    // The two clocks may differ by less than a second.
    const age = Math.max(0, now - Math.min(...occurredAt), before?.age ?? 0);
    this.#seconds.set(second, { count: (before?.count ?? 0) + occurredAt.length, age });
    for (const old of this.#seconds.keys()) if (old <= second - SECONDS) this.#seconds.delete(old);
  }

  rates(now: number): Rates {
    const last = Math.floor(now / 1000);
    const ages = Array.from(
      { length: SECONDS },
      (_, i) => this.#seconds.get(last - SECONDS + 1 + i)?.age ?? null,
    );
    let count = 0;
    for (let second = last - RATE_SECONDS; second < last; second++)
      count += this.#seconds.get(second)?.count ?? 0;
    const known = ages.filter((age) => age !== null);
    return {
      perSecond: count / RATE_SECONDS,
      ages,
      most: known.length > 0 ? Math.max(...known) : null,
    };
  }
}
