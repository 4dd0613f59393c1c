import { sql } from 'kysely';
import type { ThreadRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { enqueue } from '../jobs/enqueue.ts';
import type { LoadedThread } from './policy.ts';
import { initializationAfter } from './state.ts';
import type { InitializationEvent } from './state.ts';
import type { ThreadChange } from './store.ts';

const NO_ERROR: ThreadChange = { initialization_error_code: null, initialization_error_message: null };

/** What an event changes besides the state. */
const COLUMNS: Record<InitializationEvent, ThreadChange> = {
  begin: {
    initialization_phase: 'provisioning_workspace',
    initialization_attempt_count: sql<number>`initialization_attempt_count + 1`,
  },
  complete: { initialization_phase: null, ...NO_ERROR },
  fail: { initialization_phase: null },
  cancel: { initialization_phase: null },
  unarchive: {},
  retry: { initialization_phase: null, initialization_attempt_count: 0, setup_id: null, ...NO_ERROR },
};

/** The columns that an event of a thread's initialization changes; null where it does not take the event. */
export function initializationChange(thread: ThreadRow, event: InitializationEvent): ThreadChange | null {
  const state = initializationAfter(thread.initialization_state, event);
  return (
    state && {
      initialization_state: state,
      initialization_updated_at: sql<Date>`now()`,
      ...COLUMNS[event],
    }
  );
}

/**
 * Prepares a thread again whose initialization failed or was cancelled, for a retry or message. Returns the
 * change to write. The caller enqueues its run afterwards: jobs of a thread run in order.
 */
export async function reinitialize(tx: Tx, { thread }: LoadedThread): Promise<ThreadChange> {
  const change = initializationChange(thread, 'retry');
  if (!change) return {};
  await enqueue(
    tx,
    'thread.initialize',
    { threadId: thread.id },
    { key: `thread:${thread.id}`, turnOf: thread },
  );
  return change;
}
