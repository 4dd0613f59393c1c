/**
 * Loading a host is authorization: it belongs to the caller's organization and is not deleted. A key that is
 * restricted to projects sees none, as hosts belong to none. Its person changes it, and whoever administers the
 * organization.
 */
import type { Db } from '../db/database.ts';
import type { Tx } from '../db/transaction.ts';
import { ApiError, notFound } from '../http/errors.ts';
import type { Principal } from '../http/principal.ts';
import { selectHosts } from './store.ts';
import type { SeenHost } from './store.ts';

export const seesHosts = ({ projectIds }: Principal): boolean => projectIds === null;

/** A host by its id, as a body or a path names it. */
export async function loadHost(
  db: Db | Tx['db'],
  principal: Principal,
  hostId: string,
  lock: 'none' | 'update' = 'none',
): Promise<SeenHost> {
  let query = selectHosts(db)
    .where('org_id', '=', principal.orgId)
    .where('id', '=', hostId)
    .where('deleted_at', 'is', null);
  if (lock === 'update') query = query.forUpdate();
  const host = seesHosts(principal) ? await query.executeTakeFirst() : undefined;
  if (!host) throw notFound('host');
  return host;
}

/** Locks the host that the path names, for a caller who may change it. */
export async function lockOwnHost(
  tx: Tx,
  { principal, params }: { principal: Principal; params: Record<string, string> },
): Promise<SeenHost> {
  const host = await loadHost(tx.db, principal, params.hostId!, 'update');
  if (host.user_id !== principal.userId && principal.role !== 'owner' && principal.role !== 'admin')
    throw new ApiError('forbidden', 'Only its person, an owner or an admin changes a host.');
  return host;
}
