import type { Client, Draft, HeadraceEvent } from '@headrace/client';
import type { QueryClient } from '@tanstack/react-query';
export type LiveState = 'connecting' | 'live' | 'behind' | 'offline' | 'expired' | 'signed-out';
export interface LiveStatus {
  state: LiveState;
  dataAt: number | null;
  reason: string | null;
  gapAt: number | null;
  nextAttemptAt: number | null;
}
export interface Live {
  stop(): void;
  status(): LiveStatus;
  subscribe(listener: () => void): () => void;
  watchThread(appId: string, threadId: string): () => void;
  draft(threadId: string): Draft | null;
  onEvents(listener: (events: HeadraceEvent[]) => void): () => void;
  check(): void;
}
export function startLive(_options: {
  client: Client;
  queries: QueryClient;
  identity: { userId: string; organizationId: string };
  onSignedOut(): void;
}): Live {
  throw new Error('not yet');
}
