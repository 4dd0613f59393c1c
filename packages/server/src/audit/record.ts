import type { Principal } from '../http/principal.ts';
import type { Tx } from '../db/transaction.ts';
import { newId } from '../ids.ts';

/** Who acts, and from where; a Call has this shape. Null: the service, or its operator on the host. */
export interface Actor {
  principal: Pick<Principal, 'orgId'> & { actorId: string | null };
  address: string | null;
}

/** The service as the actor, for an organization. */
export const serviceOf = (orgId: string): Actor => ({ principal: { orgId, actorId: null }, address: null });

/**
 * Adds an entry to the organization's audit log, in the transaction of what it records. `action` is
 * `<resource>.<past tense>` (`project.deleted`), `targetId` the id of what was changed.
 */
export async function audit(tx: Tx, by: Actor, action: string, targetId: string | null): Promise<void> {
  await tx.db
    .insertInto('audit_entries')
    .values({
      org_id: by.principal.orgId,
      id: newId('aud'),
      action,
      actor_id: by.principal.actorId,
      target_id: targetId,
      address: by.address,
    })
    .execute();
}
