import type { Http } from '../http.ts';
import type { CallOptions } from '../options.ts';
import type { HeadraceEvent } from '../generated/types.ts';
import { listEvents } from './feed.ts';
import type { Feed } from './feed.ts';
import { ONE_ATTEMPT, persistently } from './patience.ts';
import type { PatienceOptions } from './patience.ts';

export interface ReplayOptions extends CallOptions, PatienceOptions {
  /** Starts after this cursor; when omitted, at the oldest event that is kept. */
  cursor?: string;
  /** Waits for events at the feed's end, and while the service is unavailable. */
  follow?: boolean;
}

const PAGE = 500;
const FOLLOW_SECONDS = 25;

export async function* replayEvents(
  http: Http,
  feed: Feed,
  { cursor, follow = false, onState, onHeard, ...options }: ReplayOptions = {},
): AsyncGenerator<HeadraceEvent> {
  const read = (at: string | undefined) =>
    listEvents(http, feed, {
      ...options,
      limit: PAGE,
      cursor: at,
      ...(follow ? { waitSeconds: FOLLOW_SECONDS, ...ONE_ATTEMPT } : {}),
    });
  for (let at = cursor; ;) {
    const from = at;
    const page = follow
      ? await persistently({ signal: options.signal, onState }, () => read(from))
      : await read(from);
    onHeard?.();
    yield* page.events;
    at = page.nextCursor;
    if (!follow && !page.hasMore) return;
  }
}
