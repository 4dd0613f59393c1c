import { audit } from '../audit/index.ts';
import type { Tx } from '../db/transaction.ts';
import { organizationsOf } from './sessions.ts';

/** Adds an entry about a user to the log of each organization that they are a member of. */
export async function auditUser(
  tx: Tx,
  { userId, actorId, address }: { userId: string; actorId: string | null; address: string | null },
  action: string,
): Promise<void> {
  for (const { id: orgId } of await organizationsOf(tx.db, userId))
    await audit(tx, { principal: { orgId, actorId }, address }, action, userId);
}
