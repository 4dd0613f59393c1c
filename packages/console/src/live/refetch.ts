/**
 * Refetches of queries whose data has changed: only of those that are shown, at most one a second each, four at once,
 * and within the budget. A change is done with when a fetch that began after it has succeeded.
 */
import { HeadraceError } from '@headrace/client';
import type { Query, QueryCache, QueryCacheNotifyEvent } from '@tanstack/react-query';
import type { Budget } from './budget.ts';

const INTERVAL_MS = 1_000;
/** Events often come together: one refetch is for all of them. */
const GATHER_MS = 30;
const AT_ONCE = 4;
const LONGEST_BACKOFF_MS = 30_000;
const DEFAULT_PAUSE_MS = 5_000;

/** Moments are counts of one clock; times in milliseconds are of `performance.now`. */
interface Entry {
  /** The moment of the last change. */
  changed: number;
  /** The moment when the current or last fetch began. */
  began: number;
  /** The moment when the last successful fetch began. */
  fresh: number;
  notBeforeMs: number;
  failures: number;
}

export interface RefetcherOptions {
  cache: QueryCache;
  budget: Budget;
  /** Nothing is fetched while this holds. */
  isHeld(): boolean;
  onSpent(cost: number): void;
  onPaused(ms: number): void;
  /** After each fetch. */
  onFetched(): void;
  onUnauthorized(): void;
}

export class Refetcher {
  readonly #options: RefetcherOptions;
  readonly #entries = new WeakMap<Query, Entry>();
  readonly #pending = new Set<Query>();
  readonly #stopListening: () => void;
  #moment = 0;
  #running = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isStopped = false;

  constructor(options: RefetcherOptions) {
    this.#options = options;
    this.#stopListening = options.cache.subscribe((event) => this.#onCache(event));
  }

  /** Its data may differ from the service's since now. */
  markChanged(query: Query): void {
    const entry = this.#entryOf(query);
    entry.changed = ++this.#moment;
    entry.notBeforeMs = Math.max(entry.notBeforeMs, performance.now() + GATHER_MS);
    this.#pending.add(query);
    if (!query.state.isInvalidated) query.invalidate();
    this.run();
  }

  /** The same for all that events change and that was ever fetched: no event was missed of what follows none. */
  markAllChanged(): void {
    for (const query of this.#options.cache.getAll())
      if (
        query.meta?.follows &&
        (query.state.data !== undefined ||
          query.state.fetchStatus !== 'idle' ||
          query.state.status === 'error')
      )
        this.markChanged(query);
  }

  /** Whether nothing that is shown waits for a fetch. */
  isSettled(): boolean {
    return [...this.#pending].every((query) => !query.isActive());
  }

  /** Failures so far delay nothing: the service answers again. */
  forgive(): void {
    for (const query of this.#pending) {
      const entry = this.#entryOf(query);
      if (entry.failures) Object.assign(entry, { failures: 0, notBeforeMs: 0 });
    }
    this.run();
  }

  /** Begins what may begin now. */
  run(): void {
    if (this.#isStopped || this.#options.isHeld()) return;
    const now = performance.now();
    let nextMs = Infinity;
    for (const query of this.#pending) {
      if (!query.isActive() || query.state.fetchStatus !== 'idle') continue;
      if (this.#running >= AT_ONCE) break;
      const waitMs = Math.max(this.#entryOf(query).notBeforeMs - now, this.#options.budget.waitMs(now));
      if (waitMs > 0) nextMs = Math.min(nextMs, waitMs);
      else this.#fetch(query, now);
    }
    clearTimeout(this.#timer);
    if (nextMs !== Infinity) this.#timer = setTimeout(() => this.run(), Math.ceil(nextMs));
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#stopListening();
    this.#pending.clear();
  }

  #fetch(query: Query, now: number): void {
    const cost = pagesOf(query);
    this.#options.budget.spend(now, cost);
    this.#options.onSpent(cost);
    this.#running++;
    // A fetch that the network pauses would never settle.
    const fetched = query.fetch(undefined, { cancelRefetch: false });
    const settled = query.state.fetchStatus === 'paused' ? Promise.resolve() : fetched;
    const end = () => {
      this.#running--;
      this.run();
    };
    fetched.catch(() => {});
    settled.then(end, end);
  }

  #onCache(event: QueryCacheNotifyEvent): void {
    const { query } = event;
    if (event.type === 'removed') this.#pending.delete(query);
    else if (event.type === 'observerAdded' || event.type === 'observerOptionsUpdated')
      // The observer itself may fetch first.
      this.#runSoon(query);
    else if (event.type === 'updated') this.#onAction(query, event.action);
  }

  #runSoon(query: Query): void {
    if (this.#pending.has(query)) queueMicrotask(() => this.run());
  }

  #onAction(query: Query, action: Extract<QueryCacheNotifyEvent, { type: 'updated' }>['action']): void {
    const entry = this.#entryOf(query);
    if (action.type === 'fetch' || action.type === 'continue') {
      entry.began = ++this.#moment;
      entry.notBeforeMs = performance.now() + INTERVAL_MS;
    } else if (action.type === 'success') {
      if (!action.manual) Object.assign(entry, { fresh: entry.began, failures: 0 });
      this.#settle(query, entry);
    } else if (action.type === 'error') this.#fail(query, entry, action.error);
    else return;
    if (action.type !== 'fetch' && action.type !== 'continue') this.#options.onFetched();
  }

  #settle(query: Query, entry: Entry): void {
    if (entry.changed <= entry.fresh) {
      this.#pending.delete(query);
      return;
    }
    // The success has reset it.
    if (!query.state.isInvalidated) query.invalidate();
    queueMicrotask(() => this.run());
  }

  #fail(query: Query, entry: Entry, error: unknown): void {
    const { status, retryAfterMs } =
      error instanceof HeadraceError ? error : { status: 0, retryAfterMs: null };
    if (status === 401) this.#options.onUnauthorized();
    if (status === 429) {
      const ms = retryAfterMs ?? DEFAULT_PAUSE_MS;
      this.#options.budget.pause(performance.now(), ms);
      this.#options.onPaused(ms);
    }
    // No later attempt changes a refusal.
    if (status >= 400 && status < 500 && status !== 429 && status !== 408) this.#pending.delete(query);
    const backoffMs = Math.min(LONGEST_BACKOFF_MS, INTERVAL_MS * 2 ** entry.failures++);
    entry.notBeforeMs = performance.now() + backoffMs;
    queueMicrotask(() => this.run());
  }

  #entryOf(query: Query): Entry {
    let entry = this.#entries.get(query);
    if (!entry) {
      entry = { changed: 0, began: 0, fresh: 0, notBeforeMs: 0, failures: 0 };
      this.#entries.set(query, entry);
    }
    return entry;
  }
}

/** An infinite query sends one request for each page. */
function pagesOf({ state }: Query): number {
  const { pages } = (state.data ?? {}) as { pages?: unknown };
  return Array.isArray(pages) ? Math.max(1, pages.length) : 1;
}
