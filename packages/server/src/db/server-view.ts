/**
 * How long this process has seen the same database server without a break. After a failover all locks are free and all
 * heartbeats are old, whoever lives: only a checker that has seen the server for long enough for the others to be back
 * may take one for dead. The statement that does so compares `server_identity()`: the pool may lead to a newer server
 * than the session that was watched.
 */

/** No answer for so long is a break: the server, or this process, stood still. */
const GAP_MS = 5_000;

export interface SeenServer {
  /** What `server_identity()` returns there. */
  identity: string;
  /** On this process's monotonic clock. */
  seenMs: number;
}

export class ServerView {
  #identity: string | null = null;
  #since = 0;
  #answeredAt = -Infinity;
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** The server answered on the watched session. */
  saw(identity: string): void {
    const now = this.#now();
    if (identity !== this.#identity || now - this.#answeredAt > GAP_MS) this.#since = now;
    this.#identity = identity;
    this.#answeredAt = now;
  }

  /** The session broke. */
  lost(): void {
    this.#identity = null;
  }

  /** Null: none, now. */
  current(): SeenServer | null {
    const now = this.#now();
    if (this.#identity === null || now - this.#answeredAt > GAP_MS) return null;
    return { identity: this.#identity, seenMs: now - this.#since };
  }
}
