/**
 * The state of a pull request, as its provider says or as we made it there:
 *
 *   open           close    closed
 *   closed         reopen   open
 *   open, closed   merge    merged    final
 *
 * The push status: whether its branch holds what its thread has.
 *
 *   current, failed             queue     pending    the thread has a newer source, or a caller asks for it
 *   pending                     finish    current    the branch holds the source
 *   pending                     refuse    failed     by the provider; a newer source or a caller tries again
 *   pending                     leave     current    the pull request was closed or merged, or pushes were switched off
 *   current, pending, failed    diverge   diverged   others' commits conflict, or the branch was rewritten
 *   diverged                    take      pending    a caller decided whose files count
 */
import type { PullRequestRow } from '../db/schema.ts';

type State = PullRequestRow['state'];
type PushStatus = PullRequestRow['push_status'];

const STATES = {
  close: { from: ['open'], to: 'closed' },
  reopen: { from: ['closed'], to: 'open' },
  merge: { from: ['open', 'closed'], to: 'merged' },
} as const satisfies Record<string, { from: readonly State[]; to: State }>;

const PUSHES = {
  queue: { from: ['current', 'failed'], to: 'pending' },
  finish: { from: ['pending'], to: 'current' },
  refuse: { from: ['pending'], to: 'failed' },
  leave: { from: ['pending'], to: 'current' },
  diverge: { from: ['current', 'pending', 'failed'], to: 'diverged' },
  take: { from: ['diverged'], to: 'pending' },
} as const satisfies Record<string, { from: readonly PushStatus[]; to: PushStatus }>;

export type PullRequestEvent = keyof typeof STATES;
export type PushEvent = keyof typeof PUSHES;

/** The state after an event; the same where it does not take the event. */
export function stateAfter(state: State, event: PullRequestEvent): State {
  const { from, to } = STATES[event];
  return (from as readonly State[]).includes(state) ? to : state;
}

/** The event that brings a pull request to the state in which its provider has it. */
export const EVENT_OF = { open: 'reopen', closed: 'close', merged: 'merge' } as const satisfies Record<
  State,
  PullRequestEvent
>;

/** The push status after an event; the same where it does not take the event. */
export function pushAfter(status: PushStatus, event: PushEvent): PushStatus {
  const { from, to } = PUSHES[event];
  return (from as readonly PushStatus[]).includes(status) ? to : status;
}
