/** One tab's events: each once, in the order of its feed, applied to the cached queries once per frame. */
import type { QueryCache } from '@tanstack/react-query';
import type { Environment } from './environment.ts';
import { isFollowed } from './follows.ts';
import type { Batch, Cursors, LaneName, LiveEvent, Rebase } from './lanes.ts';
import { patchStatuses, statusChanges } from './patch.ts';
import { Recent } from './recent.ts';
import type { Refetcher } from './refetch.ts';

export interface StoreOptions {
  cache: QueryCache;
  refetcher: Refetcher;
  environment: Environment;
  lanes: readonly LaneName[];
  /** Those of what the cached data already has. */
  cursors: Cursors;
}

export class Store {
  readonly lanes: readonly LaneName[];
  /** An event is older or newer only than others of its feed. */
  readonly #recent: Record<LaneName, Recent> = { apps: new Recent(), direct: new Recent() };
  readonly #options: StoreOptions;
  readonly #listeners = new Set<(events: LiveEvent[]) => void>();
  #queue: LiveEvent[] = [];
  #cancelFrame: (() => void) | null = null;

  constructor(options: StoreOptions) {
    this.#options = options;
    this.lanes = options.lanes;
    for (const lane of this.lanes) {
      const cursor = options.cursors[lane];
      if (cursor !== undefined) this.#recent[lane].restart(cursor);
    }
  }

  /** Up to where the events of a feed are known; null before the first snapshot. */
  cursorOf(lane: LaneName): string | null {
    return this.#recent[lane].cursor;
  }

  /** The same of all feeds that are known. */
  cursors(): Cursors {
    const known: Cursors = {};
    for (const lane of this.lanes) {
      const cursor = this.cursorOf(lane);
      if (cursor !== null) known[lane] = cursor;
    }
    return known;
  }

  /** Whether nothing is known to be missing up to these cursors. */
  hasAll(cursors: Cursors): boolean {
    return this.lanes.every((lane) => {
      const cursor = cursors[lane];
      return cursor === undefined || this.#recent[lane].has(cursor);
    });
  }

  /** Null if the cursor is unknown. */
  eventsAfter(lane: LaneName, cursor: string): LiveEvent[] | null {
    return this.#recent[lane].since(cursor);
  }

  onEvents(listener: (events: LiveEvent[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** False if events between this batch and what is known are missing: nothing is applied then. */
  receive({ lane, after, events, cursor }: Batch): boolean {
    const recent = this.#recent[lane];
    if (!recent.has(after)) return false;
    // A leader that is behind repeats what is known here: that must not move the cursor back.
    if (recent.has(cursor)) return true;
    const fresh = events.filter((event) => recent.addEvent(event));
    recent.addCursor(cursor);
    if (fresh.length) this.#enqueue(fresh);
    return true;
  }

  /** What was fetched so far may be older than the cursor: all that is shown is fetched again. */
  rebase({ lane, cursor, isNewHistory = false }: Pick<Rebase, 'lane' | 'cursor' | 'isNewHistory'>): void {
    const recent = this.#recent[lane];
    if (isNewHistory) recent.forgetOrder();
    recent.restart(cursor);
    this.#options.refetcher.markAllChanged();
  }

  stop(): void {
    this.#cancelFrame?.();
    this.#queue = [];
  }

  #enqueue(events: LiveEvent[]): void {
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
