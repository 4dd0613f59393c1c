/**
 * A view of the service's state that follows the events: head, snapshot, replay, stream. State that the caller
 * stores together with a cursor is exact, however often the process dies:
 *
 *   load(cursor)          replaces the view with the service's current state, and stores `cursor` with it
 *   apply(event, cursor)  changes the view by one event, and stores `cursor` with it
 *   save(cursor)          stores `cursor`: no event has arrived up to it
 */
import type { Http } from '../http.ts';
import type { HeadraceEvent } from '../generated/types.ts';
import { captureHead } from './feed.ts';
import type { Feed } from './feed.ts';
import { persistently } from './patience.ts';
import type { ResetCode } from './patience.ts';
import { positionedEvents } from './stream.ts';
import type { StreamOptions } from './stream.ts';

export interface ViewOptions<E = HeadraceEvent> extends StreamOptions {
  /** The stored cursor. Without one, the view starts with `load`. */
  cursor?: string;
  /**
   * Reads what the view shows, and replaces all of it, in one transaction with the cursor. Events of changes that
   * the snapshot already has may follow. Called at the start, and when events may have been missed. Called again
   * if the service cannot be reached.
   */
  load(cursor: string, reason: 'start' | ResetCode): Promise<unknown> | void;
  /** Each event once, in order, in one transaction with the cursor. What it throws ends the view. */
  apply(event: E, cursor: string): Promise<unknown> | void;
  /** Called at most every few seconds; keeps the cursor of a quiet feed from expiring. */
  save?(cursor: string): Promise<unknown> | void;
}

/** Resolves when the app is deleted; rejects when the signal aborts, and when the key may no longer read. */
export async function followView(
  http: Http,
  feed: Feed,
  { load, apply, save, cursor, ...options }: ViewOptions,
): Promise<void> {
  const reload = (at: string, reason: 'start' | ResetCode) =>
    persistently(options, async () => load(at, reason));
  let from = cursor;
  if (from === undefined) {
    // The cursor is older than the snapshot: changes in between arrive as events.
    from = await captureHead(http, feed, options);
    await reload(from, 'start');
  }
  for await (const item of positionedEvents(http, feed, { ...options, cursor: from })) {
    if (item.kind === 'event') await apply(item.event, item.event.cursor);
    else if (item.kind === 'position') await save?.(item.cursor);
    else if (item.kind === 'reset') await reload(item.cursor, item.code);
  }
}
