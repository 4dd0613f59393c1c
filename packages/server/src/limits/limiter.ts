/**
 * A rolling window of requests for each bucket (a key, an address, a user), shared by all processes and
 * never above its limit.
 *
 *   no lease --renew: granted--> leased --used up, over, or asked back--> no lease
 *   no lease --renew: nothing free--> full, until something leaves the window
 *
 * Where a window is full by what other processes lease and do not use, they are asked to give it back.
 * Without the store nothing is let through, leased or not: how many others there are, and what they use, is
 * unknown then.
 */
import type { Bus } from '../bus.ts';
import type { WindowStore } from './store.ts';
import { oldest, prune, stepOf, sum } from './window.ts';
import type { Used } from './window.ts';

export interface RateState {
  /** `away`: the store does not answer. */
  verdict: 'allowed' | 'refused' | 'away';
  limit: number;
  remaining: number;
  /** Seconds until the oldest counted request leaves the window, rounded up. */
  resetSeconds: number;
  windowSeconds: number;
  /** Why it is away, where that is known. */
  cause?: unknown;
}

/** What the limiters of a process share. */
export interface Shared {
  store: WindowStore;
  bus: Bus;
  /** Names this process. */
  holder: string;
  clock: DatabaseClock;
  /** When the store failed last, in ms of performance.now(). */
  failedAt: number;
  /** With what. */
  failure?: unknown;
}

/**
 * PostgreSQL's clock as this process knows it, in ms: between two bounds, as far apart as its last question
 * took. Use is recorded by the later one and forgotten by the earlier one; by one reckoning for both, a
 * slow question after a fast one would forget too early.
 */
export class DatabaseClock {
  private early = Date.now() - performance.now();
  private late = this.early;

  earliest(): number {
    return performance.now() + this.early;
  }

  latest(): number {
    return performance.now() + this.late;
  }

  /**
   * The database said `time` to a question that was sent at `sentAt` (ms of performance.now()) and has just
   * been answered.
   */
  set(time: number, sentAt: number): void {
    this.early = time - performance.now();
    this.late = time - sentAt;
  }
}

class Bucket {
  used: Used = [];
  /** What is left of this process's lease, and until when. */
  granted = 0;
  until = 0;
  /** The store counts a lease of this process that it has not reported on. */
  isLeasing = false;
  others: Used = [];
  othersLeased = 0;
  /** Refused without asking until then. */
  fullUntil = 0;
  /** Requests that are not decided yet. */
  waiting = 0;
  renewing: Promise<void> | null = null;
  recalling: Promise<void> | null = null;
  /** Ends the wait for the other processes. */
  heard = () => {};
}

/**
 * A store that failed is not asked for so long: refusals stay fast, and it is not run down when it comes
 * back.
 */
const REST_MS = 250;
/**
 * Others are given so long, so often, to give back what they hold unused; one that died never does, and its
 * lease counts until it is over.
 */
const RECALL_MS = 100;
const RECALLS = 2;
const ROUNDS = 5;

export class Limiter {
  private readonly shared: Shared;
  private readonly name: string;
  private readonly limit: number;
  private readonly windowSeconds: number;
  private readonly windowMs: number;
  private readonly buckets = new Map<string, Bucket>();

  constructor(shared: Shared, name: string, limit: number, windowSeconds: number) {
    this.shared = shared;
    this.name = name;
    this.limit = limit;
    this.windowSeconds = windowSeconds;
    this.windowMs = windowSeconds * 1000;
  }

  /** Counts one request of `name`, unless the window is full. Never throws. */
  async take(name: string): Promise<RateState> {
    if (performance.now() - this.shared.failedAt < REST_MS) return this.away();
    const bucket = this.buckets.get(name) ?? new Bucket();
    this.buckets.set(name, bucket);
    bucket.waiting++;
    try {
      return await this.admit(name, bucket);
    } catch {
      return this.away();
    } finally {
      bucket.waiting--;
    }
  }

  /** Uncounts a request taken just before. */
  giveBack(name: string): void {
    const bucket = this.buckets.get(name);
    const last = bucket?.used.at(-1);
    if (!bucket || !last) return;
    if (--last[1] === 0) bucket.used.pop();
    bucket.granted++;
    bucket.fullUntil = 0;
  }

  /** What this process knows of the bucket, without counting or asking: for answers that do not count. */
  peek(name: string): RateState {
    return this.stateOf(this.buckets.get(name) ?? new Bucket(), 'allowed');
  }

  /** The state of every bucket while the store is away. */
  away(): RateState {
    return {
      verdict: 'away',
      limit: this.limit,
      remaining: 0,
      resetSeconds: 1,
      windowSeconds: this.windowSeconds,
      cause: this.shared.failure,
    };
  }

  /** Another process gave back what it held of the bucket. */
  heard(name: string): void {
    this.buckets.get(name)?.heard();
  }

  /** Reports what was used, and gives back what waits for nobody here. */
  async surrender(name: string): Promise<void> {
    const bucket = this.buckets.get(name);
    if (!bucket?.isLeasing) return;
    await this.renew(name, bucket).then(
      () => this.shared.bus.notify('limits', `returned ${this.name} ${name}`),
      () => {},
    );
  }

  /** `surrender` of all buckets. */
  async surrenderAll(): Promise<void> {
    await Promise.all([...this.buckets.keys()].map((name) => this.surrender(name)));
  }

  /** Forgets what was silent for a window. */
  sweep(): void {
    for (const [name, bucket] of this.buckets) {
      this.forget(bucket);
      if (
        !bucket.used.length &&
        !bucket.others.length &&
        !bucket.waiting &&
        this.shared.clock.earliest() >= bucket.until
      )
        this.buckets.delete(name);
    }
  }

  private async admit(name: string, bucket: Bucket): Promise<RateState> {
    const { bus, clock } = this.shared;
    // A lost connection of the bus is the first sign that the database is away: leases rest until it has
    // answered.
    let isKnownThere = bus.isConnected();
    for (let round = 1; ; round++) {
      if (isKnownThere && this.use(bucket)) return this.stateOf(bucket, 'allowed');
      if (isKnownThere && (clock.earliest() < bucket.fullUntil || round > ROUNDS))
        return this.stateOf(bucket, 'refused');
      await this.renew(name, bucket);
      isKnownThere = true;
      if (bucket.granted > 0 || bucket.othersLeased === 0) continue;
      if (round <= RECALLS) await this.recall(name, bucket);
      else bucket.fullUntil = clock.earliest() + REST_MS;
    }
  }

  /** Counts a request where the lease allows it. */
  private use(bucket: Bucket): boolean {
    const now = this.shared.clock.latest();
    if (bucket.granted <= 0 || now >= bucket.until) return false;
    bucket.granted--;
    const at = stepOf(now, this.windowMs);
    const last = bucket.used.at(-1);
    if (last && last[0] >= at) last[1]++;
    else bucket.used.push([at, 1]);
    return true;
  }

  private renew(name: string, bucket: Bucket): Promise<void> {
    bucket.renewing ??= this.renewOnce(name, bucket).finally(() => {
      bucket.renewing = null;
    });
    return bucket.renewing;
  }

  private async renewOnce(name: string, bucket: Bucket): Promise<void> {
    const { shared } = this;
    // What is used from here on would be neither in this report nor in the lease: nothing may be.
    bucket.granted = 0;
    this.forget(bucket);
    const sentAt = performance.now();
    try {
      const { now, granted, until, others, othersLeased } = await shared.store.renew(
        `${this.name} ${name}`,
        { holder: shared.holder, used: bucket.used, waiting: bucket.waiting },
        this.limit,
        this.windowMs,
      );
      shared.clock.set(now, sentAt);
      const isFull = granted === 0 && bucket.waiting > 0 && othersLeased === 0;
      Object.assign(bucket, {
        granted,
        until,
        others,
        othersLeased,
        isLeasing: granted > 0,
        fullUntil: isFull ? (oldest(bucket.used, others) ?? now) + this.windowMs : 0,
      });
    } catch (error) {
      shared.failedAt = performance.now();
      shared.failure = error;
      throw error;
    }
  }

  /**
   * Asks the other processes for what they hold unused; resolves when one gave back, at the latest after
   * RECALL_MS.
   */
  private recall(name: string, bucket: Bucket): Promise<void> {
    bucket.recalling ??= new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, RECALL_MS);
      bucket.heard = () => {
        clearTimeout(timer);
        resolve();
      };
      this.shared.bus.notify('limits', `recall ${this.name} ${name}`);
    }).finally(() => {
      bucket.recalling = null;
    });
    return bucket.recalling;
  }

  private forget(bucket: Bucket): void {
    const now = this.shared.clock.earliest();
    bucket.used = prune(bucket.used, now, this.windowMs);
    bucket.others = prune(bucket.others, now, this.windowMs);
  }

  private stateOf(bucket: Bucket, verdict: 'allowed' | 'refused'): RateState {
    this.forget(bucket);
    const { limit, windowSeconds } = this;
    const remaining = verdict === 'refused' ? 0 : Math.max(0, limit - sum(bucket.used) - sum(bucket.others));
    const first = oldest(bucket.used, bucket.others);
    // Refused with nothing counted: by leases of others, which end.
    const seconds =
      first === undefined
        ? Number(verdict === 'refused')
        : Math.max(1, Math.ceil((first + this.windowMs - this.shared.clock.earliest()) / 1000));
    return { verdict, limit, remaining, resetSeconds: Math.min(windowSeconds, seconds), windowSeconds };
  }
}
