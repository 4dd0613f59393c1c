/** One tab's events: each once, in order, applied to the cached queries once per frame. */
import type { HeadraceEvent } from '@headrace/client';
import type { QueryCache } from '@tanstack/react-query';
import type { Environment } from './environment.ts';
import { isFollowed } from './follows.ts';
import type { Batch } from './messages.ts';
import { patchStatuses, statusChanges } from './patch.ts';
import { Recent } from './recent.ts';
import type { Refetcher } from './refetch.ts';

export interface StoreOptions {
  cache: QueryCache;
  refetcher: Refetcher;
  environment: Environment;
  /** The cursor of what the cached data already has. */
  cursor: string | null;
}

export class Store {
  readonly recent = new Recent();
  readonly #options: StoreOptions;
  readonly #listeners = new Set<(events: HeadraceEvent[]) => void>();
  #cursor: string | null;
  #queue: HeadraceEvent[] = [];
  #cancelFrame: (() => void) | null = null;

  constructor(options: StoreOptions) {
    this.#options = options;
    this.#cursor = options.cursor;
    if (options.cursor !== null) this.recent.restart(options.cursor);
  }

  /** Up to where the events are known; null before the first snapshot. */
  get cursor(): string | null {
    return this.#cursor;
  }

  onEvents(listener: (events: HeadraceEvent[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** False if events between this batch and what is known are missing: nothing is applied then. */
  receive({ after, events, cursor }: Batch): boolean {
    if (this.#cursor === null || !this.recent.has(after)) return false;
    // A leader that is behind repeats what is known here: that must not move the cursor back.
    if (this.recent.has(cursor)) return true;
    const fresh = events.filter((event) => this.recent.addEvent(event));
    this.recent.addCursor(cursor);
    this.#cursor = cursor;
    if (fresh.length) this.#enqueue(fresh);
    return true;
  }

  /** What was fetched so far may be older than the cursor: all that is shown is fetched again. */
  rebase(cursor: string, isNewHistory = false): void {
    if (isNewHistory) this.recent.forgetOrder();
    this.recent.restart(cursor);
    this.#cursor = cursor;
    this.#options.refetcher.markAllChanged();
  }

  stop(): void {
    this.#cancelFrame?.();
    this.#queue = [];
  }

  #enqueue(events: HeadraceEvent[]): void {
    this.#queue.push(...events);
    this.#cancelFrame ??= this.#options.environment.atFrame(() => this.#apply());
  }

  #apply(): void {
    const events = this.#queue;
    this.#queue = [];
    this.#cancelFrame = null;
    const { cache, refetcher } = this.#options;
    const changes = statusChanges(events);
    for (const query of cache.getAll()) {
      const { data, isInvalidated, dataUpdatedAt } = query.state;
      const patched = changes.size && data !== undefined ? patchStatuses(data, changes) : data;
      const isPatched = patched !== data;
      if (isPatched) {
        query.setData(patched, { updatedAt: dataUpdatedAt, manual: true });
        if (isInvalidated) query.invalidate();
      }
      const { follows } = query.meta ?? {};
      const isChanged = follows !== undefined && events.some((event) => isFollowed(follows, event));
      // A fetch under way may have read the status before the change, and would bring it back.
      if (isChanged || (isPatched && query.state.fetchStatus !== 'idle')) refetcher.markChanged(query);
    }
    for (const listener of this.#listeners) listener(events);
  }
}
