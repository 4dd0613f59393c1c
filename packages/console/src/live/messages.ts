/** What the tabs of one user and organization say to each other. */
import type { Draft } from '@headrace/client';
import type { Batch, Cursors, Rebase } from './lanes.ts';
import type { LiveState } from './state.ts';

/** Ages instead of times: `performance.now` differs between tabs, and the machine's clock may jump. */
export interface SentStatus {
  state: LiveState;
  ageMs: number | null;
  nextInMs: number | null;
  reason: string | null;
}

export type Message =
  /** A tab asks for what it has missed. */
  | { kind: 'hello'; tab: string; cursors: Cursors }
  /** A tab has heard nothing from its leader. */
  | { kind: 'ping' }
  /** The leader is asked to try again at once. */
  | { kind: 'check' }
  | { kind: 'alive'; leader: string; cursors: Cursors; status: SentStatus }
  /** With `to`, for one tab. */
  | ({ kind: 'events'; leader: string; to?: string } & Batch)
  | ({ kind: 'rebase'; leader: string; to?: string } & Rebase)
  | { kind: 'draft'; draft: Draft }
  | { kind: 'draft.removed'; threadId: string; messageId: string }
  | { kind: 'spent'; cost: number }
  | { kind: 'paused'; ms: number }
  | { kind: 'signed-out' };
