import { sql } from 'kysely';
import type { Principal } from '../http/principal.ts';
import type { ThreadRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { enqueue } from '../jobs/enqueue.ts';
import type { ThreadChange } from './store.ts';
import type { LoadedThread } from './policy.ts';

/**
 * A thread whose initialization failed or was cancelled is prepared anew by its next retry or message.
 * Returns the change to write; enqueue order keeps it before the run's job.
 */
export async function reinitialize(tx: Tx, { thread }: LoadedThread): Promise<ThreadChange> {
  if (thread.initialization_state !== 'failed' && thread.initialization_state !== 'cancelled') return {};
  await enqueue(tx, 'thread.initialize', { threadId: thread.id }, { key: `thread:${thread.id}` });
  return {
    initialization_state: 'accepted',
    initialization_phase: null,
    initialization_attempt_count: 0,
    initialization_error_code: null,
    initialization_error_message: null,
    initialization_updated_at: sql<Date>`now()`,
  };
}

/** Adds the user of a session to those who took part. */
export function withParticipant(thread: ThreadRow, principal: Principal): ThreadChange {
  if (!principal.userId || thread.participant_user_ids.includes(principal.userId)) return {};
  return { participant_user_ids: [...thread.participant_user_ids, principal.userId] };
}
