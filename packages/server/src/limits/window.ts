/**
 * One bucket's rolling window as all processes share it. A process leases a slice of the window and counts
 * in memory what it uses of it; at its next renewal it reports the use and gives the rest back. What is
 * leased counts as used, so the sum is never above the limit. Pure; times are milliseconds of PostgreSQL's
 * clock.
 */

/** Requests by their time, oldest first. */
export type Used = [time: number, count: number][];

export interface Share {
  used: Used;
  /** What its process may still use without asking, until `until`. */
  leased: number;
  until: number;
}

/** By process. */
export type Shares = Record<string, Share>;

export interface Renewal {
  holder: string;
  /** All that the holder has used in this window. */
  used: Used;
  /** How many requests of the holder wait: 0 gives everything back. */
  waiting: number;
}

export interface Renewed {
  shares: Shares;
  granted: number;
  until: number;
  /** What the others have used, and hold unused. */
  others: Used;
  othersLeased: number;
}

/**
 * A slice is this part of what is free. Smaller ones ask more often, larger ones are more often asked back.
 */
const SLICE = 8;
/** Of a lease and of a step in which use is recorded, in parts of the window. */
const LEASE_PART = 10;
const STEPS = 240;

/** Longer than the store may take to grant it: a lease that is over when it comes is of no use. */
const LEAST_LEASE_MS = 5_000;

export const leaseMs = (windowMs: number): number => Math.max(LEAST_LEASE_MS, windowMs / LEASE_PART);

/** The end of the step that `now` is in: use is recorded as later than it was, never as earlier. */
export function stepOf(now: number, windowMs: number): number {
  const step = Math.max(1, Math.floor(windowMs / STEPS));
  return Math.ceil(now / step) * step;
}

/** Drops what has left the window. */
export function prune(used: Used, now: number, windowMs: number): Used {
  const first = used.findIndex(([time]) => time > now - windowMs);
  if (first === 0) return used;
  return first < 0 ? [] : used.slice(first);
}

/** Both run for each request, over a few hundred steps: plain loops. */
export function sum(used: Used): number {
  let total = 0;
  for (const [, count] of used) total += count;
  return total;
}

export function oldest(...all: Used[]): number | undefined {
  let first: number | undefined;
  for (const [entry] of all) if (entry && (first === undefined || entry[0] < first)) first = entry[0];
  return first;
}

function merge(all: Used[]): Used {
  const counts = new Map<number, number>();
  for (const [time, count] of all.flat()) counts.set(time, (counts.get(time) ?? 0) + count);
  return [...counts].sort(([a], [b]) => a - b);
}

/**
 * The window after a process reported and asked for more. A lease that was not reported counts a window
 * longer than it lasts: its last use may have been at its end.
 */
export function renew(
  shares: Shares,
  { holder, used, waiting }: Renewal,
  { now, limit, windowMs }: { now: number; limit: number; windowMs: number },
): Renewed {
  const kept: Shares = {};
  for (const [name, share] of Object.entries(shares)) {
    if (name === holder) continue;
    const rest = {
      used: prune(share.used, now, windowMs),
      leased: share.until + windowMs > now ? share.leased : 0,
      until: share.until,
    };
    if (rest.used.length || rest.leased) kept[name] = rest;
  }
  const others = merge(Object.values(kept).map((share) => share.used));
  const othersLeased = Object.values(kept).reduce((total, share) => total + share.leased, 0);
  const own = prune(used, now, windowMs);
  const free = Math.max(0, limit - sum(others) - othersLeased - sum(own));
  const granted = waiting === 0 ? 0 : Math.min(free, Math.max(waiting, Math.ceil(free / SLICE)));
  const until = now + leaseMs(windowMs);
  if (own.length || granted) kept[holder] = { used: own, leased: granted, until };
  return { shares: kept, granted, until, others, othersLeased };
}

/** When nothing in the window counts any more. */
export function emptyAt(shares: Shares, now: number, windowMs: number): number {
  return Math.max(
    now,
    ...Object.values(shares).flatMap((share) => [
      share.leased ? share.until + windowMs : now,
      ...share.used.slice(-1).map(([time]) => time + windowMs),
    ]),
  );
}
