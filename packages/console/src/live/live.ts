/** The live store, as pages see it. */
import type { Client, Draft } from '@headrace/client';
import type { QueryClient } from '@tanstack/react-query';
import type { LaneName, LiveEvent, LiveThread } from './lanes.ts';
import type { LiveStatus } from './state.ts';

export interface LiveOptions {
  client: Client;
  queries: QueryClient;
  identity: { userId: string; organizationId: string };
  /** The feeds that the user may read. */
  lanes: readonly LaneName[];
  onSignedOut(): void;
  /** The user may no longer read one of the feeds. */
  onForbidden(): void;
}

export interface Live {
  /** Resolves when the feeds' positions are known, at most two seconds later: what is read then is not read twice. */
  readonly ready: Promise<void>;
  stop(): void;
  /** The same object until something has changed. */
  status(): LiveStatus;
  /** Called when the status or a draft has changed. */
  subscribe(listener: () => void): () => void;
  /** Brings the drafts of a thread while the tab is shown; returns how to end it. */
  watchThread(thread: LiveThread): () => void;
  draft(threadId: string): Draft | null;
  /** Each event once, in the order of its feed, once per frame. */
  onEvents(listener: (events: LiveEvent[]) => void): () => void;
  /** Connects now, unless the connections work. */
  check(): void;
  /** The service has answered 429: no tab refetches anything for that long. The client itself repeats the call. */
  pause(ms: number): void;
}
