/**
 * The database's clock as this process knows it, on its own monotonic one. An answer says that the time was `time` between
 * the question and the answer, so the quickest of the last answers is the best measure.
 */
const KEPT = 16;

interface Measure {
  server: string;
  /** ms of the database's clock. */
  time: number;
  /** ms of this process's monotonic clock. */
  askedAt: number;
}

export class MeasuredClock {
  #server = '';
  #measures: { tookMs: number; offsetMs: number }[] = [];
  /** Until the first answer, what this machine says. */
  #offsetMs = Date.now() - performance.now();

  /** The question was answered just now. */
  measured({ server, time, askedAt }: Measure): void {
    // Another server has another clock.
    if (server !== this.#server) this.#measures = [];
    this.#server = server;
    const tookMs = performance.now() - askedAt;
    this.#measures = [...this.#measures, { tookMs, offsetMs: time - (askedAt + tookMs / 2) }].slice(-KEPT);
    this.#offsetMs = this.#measures.toSorted((a, b) => a.tookMs - b.tookMs)[0]!.offsetMs;
  }

  now(): number {
    return performance.now() + this.#offsetMs;
  }
}
