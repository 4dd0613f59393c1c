/**
 * A rolling window of requests for each bucket (a key, an address, a user), shared by all processes and never above its limit.
 *
 *   no lease --renew: granted--> leased --used up, over, or asked back--> no lease
 *   no lease --renew: nothing free--> full, until something leaves the window
 *
 * Where a window is full by what other processes lease and do not use, they are asked to give it back. Without the store nothing is let
 * through, leased or not: how many others there are, and what they use, is unknown then.
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
}

export interface RateLimiter {
  /** Counts one request of `bucket`, unless the window is full. Never throws. */
  take(bucket: string): Promise<RateState>;
  /** Uncounts a request taken just before. */
  giveBack(bucket: string): void;
  /** What this process knows of the bucket, without counting or asking: for answers that do not count. */
  peek(bucket: string): RateState;
  /** The state of every bucket while the store is away. */
  away(): RateState;
}

export interface Limits {
  /** The limiter of that name; its windows are apart from those of other names. */
  limiter(name: string, limit: number, windowSeconds: number): RateLimiter;
  /** Resolves where the store answers. */
  probe(): Promise<void>;
  /** Gives back what this process holds unused, as far as that goes in a second. */
  close(): Promise<void>;
}

interface Bucket {
  used: Used;
  granted: number;
  until: number;
  others: Used;
  othersLeased: number;
  /** Refused without asking until then. */
  fullUntil: number;
  /** Requests that are not decided yet. */
  waiting: number;
  renewing: Promise<void> | null;
  recalling: Promise<void> | null;
  /** Ends the wait for the others. */
  heard: () => void;
}

/** A store that failed is not asked for so long: refusals stay fast, and it is not run down when it comes back. */
const REST_MS = 250;
/** Others are given so long, so often, to give back what they hold unused; one that died never does, and its lease counts until it is over. */
const RECALL_MS = 100;
const RECALLS = 2;
const ROUNDS = 5;
const CLOSE_MS = 1_000;

/** `holder` names this process. */
export function openLimits(store: WindowStore, bus: Bus, holder: string): Limits {
  const limiters = new Map<string, ReturnType<typeof open>>();
  let failedAt = -Infinity;
  /** PostgreSQL's clock beside this process's. */
  let offset = Date.now() - performance.now();
  const now = () => performance.now() + offset;
  const isResting = () => performance.now() - failedAt < REST_MS;

  bus.listen('limits', (message) => {
    const [kind, name, ...bucket] = message.split(' ');
    const limiter = limiters.get(name!);
    if (kind === 'returned') limiter?.heard(bucket.join(' '));
    else void limiter?.surrender(bucket.join(' '));
  });

  function open(name: string, limit: number, windowSeconds: number) {
    const windowMs = windowSeconds * 1000;
    const buckets = new Map<string, Bucket>();
    const fresh = (): Bucket => ({ used: [], granted: 0, until: 0, others: [], othersLeased: 0, fullUntil: 0, waiting: 0, renewing: null, recalling: null, heard: () => {} });

    function of(bucket: string): Bucket {
      const known = buckets.get(bucket) ?? fresh();
      buckets.set(bucket, known);
      return known;
    }

    function forget(entry: Bucket): void {
      const at = now();
      entry.used = prune(entry.used, at, windowMs);
      entry.others = prune(entry.others, at, windowMs);
    }

    function stateOf(entry: Bucket, verdict: 'allowed' | 'refused'): RateState {
      forget(entry);
      const first = oldest(entry.used, entry.others);
      const remaining = verdict === 'refused' ? 0 : Math.max(0, limit - sum(entry.used) - sum(entry.others));
      return { verdict, limit, remaining, resetSeconds: first === undefined ? (verdict === 'refused' ? 1 : 0) : Math.min(windowSeconds, Math.max(1, Math.ceil((first + windowMs - now()) / 1000))), windowSeconds };
    }

    const away = (): RateState => ({ verdict: 'away', limit, remaining: 0, resetSeconds: 1, windowSeconds });

    /** Counts a request where the lease allows it. */
    function use(entry: Bucket): boolean {
      if (entry.granted <= 0 || now() >= entry.until) return false;
      entry.granted--;
      const at = stepOf(now(), windowMs);
      const last = entry.used.at(-1);
      if (last && last[0] >= at) last[1]++;
      else entry.used.push([at, 1]);
      return true;
    }

    async function renewOnce(bucket: string, entry: Bucket): Promise<void> {
      // What is used from here on would be neither in this report nor in the lease: nothing may be.
      entry.granted = 0;
      forget(entry);
      const sentAt = performance.now();
      try {
        const renewed = await store.renew(`${name} ${bucket}`, { holder, used: entry.used, waiting: entry.waiting }, limit, windowMs);
        offset = renewed.now - sentAt;
        Object.assign(entry, { granted: renewed.granted, until: renewed.until, others: renewed.others, othersLeased: renewed.othersLeased });
        const isFull = renewed.granted === 0 && entry.waiting > 0 && renewed.othersLeased === 0;
        entry.fullUntil = isFull ? (oldest(entry.used, entry.others) ?? now()) + windowMs : 0;
      } catch (error) {
        failedAt = performance.now();
        throw error;
      }
    }

    function renew(bucket: string, entry: Bucket): Promise<void> {
      entry.renewing ??= renewOnce(bucket, entry).finally(() => { entry.renewing = null; });
      return entry.renewing;
    }

    /** Asks the other processes for what they hold unused; resolves when one gave back, at the latest after RECALL_MS. */
    function recall(bucket: string, entry: Bucket): Promise<void> {
      entry.recalling ??= new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, RECALL_MS);
        entry.heard = () => { clearTimeout(timer); resolve(); };
        bus.notify('limits', `recall ${name} ${bucket}`);
      }).finally(() => { entry.recalling = null; });
      return entry.recalling;
    }

    async function admit(bucket: string, entry: Bucket): Promise<RateState> {
      // A lost connection of the bus is the first sign that the database is away: leases rest until it has answered.
      let isKnownThere = bus.isConnected();
      for (let round = 1; ; round++) {
        if (isKnownThere && use(entry)) return stateOf(entry, 'allowed');
        if (isKnownThere && (now() < entry.fullUntil || round > ROUNDS)) return stateOf(entry, 'refused');
        await renew(bucket, entry);
        isKnownThere = true;
        if (entry.granted > 0 || entry.othersLeased === 0) continue;
        if (round <= RECALLS) await recall(bucket, entry);
        else entry.fullUntil = now() + REST_MS;
      }
    }

    return {
      async take(bucket: string): Promise<RateState> {
        if (isResting()) return away();
        const entry = of(bucket);
        entry.waiting++;
        try {
          return await admit(bucket, entry);
        } catch {
          return away();
        } finally {
          entry.waiting--;
        }
      },
      giveBack(bucket: string): void {
        const entry = buckets.get(bucket);
        const last = entry?.used.at(-1);
        if (!last) return;
        if (--last[1] === 0) entry!.used.pop();
        entry!.granted++;
        entry!.fullUntil = 0;
      },
      peek: (bucket: string): RateState => stateOf(buckets.get(bucket) ?? fresh(), 'allowed'),
      away,
      heard(bucket: string): void {
        buckets.get(bucket)?.heard();
      },
      /** Reports, and gives back what waits for nobody here. */
      async surrender(bucket: string): Promise<void> {
        const entry = buckets.get(bucket);
        if (!entry || entry.granted === 0) return;
        await renew(bucket, entry).then(() => bus.notify('limits', `returned ${name} ${bucket}`), () => {});
      },
      leases: () => [...buckets].filter(([, entry]) => entry.granted > 0).map(([bucket]) => bucket),
      /** Forgets what was silent for a window. */
      sweep(): void {
        for (const [bucket, entry] of buckets) {
          forget(entry);
          if (!entry.used.length && !entry.others.length && !entry.waiting && now() >= entry.until) buckets.delete(bucket);
        }
      },
    };
  }

  const sweeping = setInterval(() => {
    for (const limiter of limiters.values()) limiter.sweep();
    store.purge().catch(() => {});
  }, 30_000).unref();

  return {
    limiter(name, limit, windowSeconds) {
      const known = limiters.get(name) ?? open(name, limit, windowSeconds);
      limiters.set(name, known);
      return known;
    },
    async probe() {
      await store.purge();
      if (isResting()) failedAt = -Infinity;
    },
    async close() {
      clearInterval(sweeping);
      const surrendering = Promise.all([...limiters.values()].flatMap((limiter) => limiter.leases().map((bucket) => limiter.surrender(bucket))));
      let timer: NodeJS.Timeout | undefined;
      await Promise.race([surrendering, new Promise((resolve) => { timer = setTimeout(resolve, CLOSE_MS); })]);
      clearTimeout(timer);
      await store.close();
    },
  };
}
