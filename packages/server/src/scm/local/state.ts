/**
 * Pull requests of the built-in provider.
 *
 *   open   --close-->  closed
 *   closed --reopen--> open
 *   open   --merge-->  merged      by an operation, or a push that brings the head into the base; final
 */
import type { LocalPullRequestRow } from '../../db/schema.ts';

type State = LocalPullRequestRow['state'];
type Trigger = 'close' | 'reopen' | 'merge';

const TRANSITIONS: Record<State, Partial<Record<Trigger, State>>> = {
  open: { close: 'closed', merge: 'merged' },
  closed: { reopen: 'open' },
  merged: {},
};

/** The state after the trigger; null where there is no such transition. */
export const localPullAfter = (state: State, trigger: Trigger): State | null =>
  TRANSITIONS[state][trigger] ?? null;
