/** What the tabs of one user and organization say to each other. */
import type { Draft, HeadraceEvent } from '@headrace/client';
import type { LiveState } from './state.ts';

/** Ages instead of times: `performance.now` differs between tabs, and the machine's clock may jump. */
export interface SentStatus {
  state: LiveState;
  ageMs: number | null;
  nextInMs: number | null;
  reason: string | null;
}

/** Everything between `after` and `cursor`. */
export interface Batch {
  after: string;
  events: HeadraceEvent[];
  cursor: string;
}

export type Message =
  /** A tab asks for what it has missed. */
  | { kind: 'hello'; tab: string; cursor: string | null }
  /** A tab has heard nothing from its leader. */
  | { kind: 'ping' }
  /** The leader is asked to try again at once. */
  | { kind: 'check' }
  | { kind: 'alive'; leader: string; cursor: string | null; status: SentStatus }
  /** With `to`, for one tab. */
  | ({ kind: 'events'; leader: string; to?: string } & Batch)
  /** Everything shown is to be read again; events follow from this cursor on. */
  | { kind: 'rebase'; leader: string; to?: string; cursor: string; isGap: boolean; isNewHistory?: boolean }
  | { kind: 'draft'; draft: Draft }
  | { kind: 'draft.removed'; threadId: string; messageId: string }
  | { kind: 'spent'; cost: number }
  | { kind: 'paused'; ms: number }
  | { kind: 'signed-out' };
