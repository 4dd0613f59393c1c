/**
 * A rolling window of requests per key, address or user. Counted in this process; `t` is the time until the oldest counted request
 * leaves the window. Requests of one millisecond share an entry, so a window of a million requests costs what its milliseconds cost.
 */
export interface RateState {
  allowed: boolean;
  limit: number;
  remaining: number;
  /** Seconds until the oldest counted request leaves the window, rounded up. */
  resetSeconds: number;
  windowSeconds: number;
}

interface Window {
  /** [time in ms, requests] in order; `start` is the first entry that still counts. */
  entries: [number, number][];
  start: number;
  count: number;
}

export interface RateLimiter {
  /** Counts one request of `bucket`, unless the window is full. */
  take(bucket: string): RateState;
  /** The same without counting: for answers that do not count. */
  peek(bucket: string): RateState;
}

export function createRateLimiter(limit: number, windowSeconds: number, clock: () => number = Date.now): RateLimiter {
  const windows = new Map<string, Window>();
  const windowMs = windowSeconds * 1000;
  let sweepAt = clock() + windowMs;

  function current(bucket: string, now: number): Window {
    const window = windows.get(bucket) ?? { entries: [], start: 0, count: 0 };
    while (window.start < window.entries.length && window.entries[window.start]![0] <= now - windowMs) {
      window.count -= window.entries[window.start]![1];
      window.start++;
    }
    if (window.start > 1024 && window.start * 2 > window.entries.length) {
      window.entries.splice(0, window.start);
      window.start = 0;
    }
    return window;
  }

  function state(window: Window, allowed: boolean, now: number): RateState {
    const oldest = window.entries[window.start];
    return { allowed, limit, remaining: Math.max(0, limit - window.count), resetSeconds: oldest ? Math.max(1, Math.ceil((oldest[0] + windowMs - now) / 1000)) : 0, windowSeconds };
  }

  /** Forgets buckets that were silent for a window, once a window. */
  function sweep(now: number): void {
    if (now < sweepAt) return;
    sweepAt = now + windowMs;
    for (const bucket of windows.keys()) if (current(bucket, now).count === 0) windows.delete(bucket);
  }

  return {
    take(bucket) {
      const now = clock();
      sweep(now);
      const window = current(bucket, now);
      if (window.count >= limit) return state(window, false, now);
      const last = window.entries.at(-1);
      if (last && window.entries.length > window.start && last[0] === now) last[1]++;
      else window.entries.push([now, 1]);
      window.count++;
      windows.set(bucket, window);
      return state(window, true, now);
    },
    peek(bucket) {
      const now = clock();
      return state(current(bucket, now), true, now);
    },
  };
}

/** The rate limit headers that every answer carries. */
export function rateHeaders(state: RateState, now = Date.now()): Record<string, string> {
  return {
    RateLimit: `"ingress";r=${state.remaining};t=${state.resetSeconds}`,
    'RateLimit-Policy': `"ingress";q=${state.limit};qu="requests";w=${state.windowSeconds}`,
    'X-RateLimit-Limit': String(state.limit),
    'X-RateLimit-Remaining': String(state.remaining),
    'X-RateLimit-Reset': String(Math.ceil(now / 1000) + state.resetSeconds),
  };
}

/** Both forms of the delay, on 429 and 503 only. */
export const retryHeaders = (seconds: number): Record<string, string> => ({ 'Retry-After': String(seconds), 'X-Retry-After': String(seconds) });
