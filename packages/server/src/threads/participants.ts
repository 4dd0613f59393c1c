import type { ThreadRow } from '../db/schema.ts';
import type { Principal } from '../http/principal.ts';
import type { ThreadChange } from './store.ts';

/** Adds the user of a session to the participants. */
export function withParticipant(thread: ThreadRow, principal: Principal): ThreadChange {
  if (!principal.userId || thread.participant_user_ids.includes(principal.userId)) return {};
  return { participant_user_ids: [...thread.participant_user_ids, principal.userId] };
}
