/**
 * Who may read the receipt of a write: those who may see its project and have its permissions. A receipt
 * without permissions belongs to a write that only sessions may do: its actor, owners and admins may read it.
 */
import type { OperationRow } from '../db/schema.ts';
import { may, seesProject } from '../http/principal.ts';
import type { Principal } from '../http/principal.ts';

/** Whether the caller may see the receipt; otherwise the answer is as if it did not exist. */
export const seesReceipt = (principal: Principal, receipt: OperationRow): boolean =>
  receipt.project_id === null
    ? principal.projectIds === null || receipt.actor_id === principal.actorId
    : seesProject(principal, receipt.project_id);

const isAdmin = ({ role }: Principal) => role === 'owner' || role === 'admin';

export const mayReadReceipt = (principal: Principal, receipt: OperationRow): boolean =>
  receipt.permissions.length
    ? receipt.permissions.every((permission) => may(principal, permission))
    : receipt.actor_id === principal.actorId || isAdmin(principal);
