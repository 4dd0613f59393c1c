import type { InstallationRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { enqueueUnlessWaiting } from '../jobs/enqueue.ts';

/** The repositories of an installation are read soon, once for all who ask until then. */
export const syncSoon = (tx: Tx, { id, org_id }: Pick<InstallationRow, 'id' | 'org_id'>): Promise<void> =>
  enqueueUnlessWaiting(
    tx,
    'scm.sync',
    { installationId: id },
    { key: `sync:${id}`, turnOf: { org_id, project_id: id } },
  );

/** Other installations of the same host may see what this one sees no more. */
export async function syncOthers(
  tx: Tx,
  { id, org_id, provider, base_url }: Pick<InstallationRow, 'id' | 'org_id' | 'provider' | 'base_url'>,
): Promise<void> {
  const others = await tx.db
    .selectFrom('installations')
    .select(['id', 'org_id'])
    .where('org_id', '=', org_id)
    .where('provider', '=', provider)
    .where('base_url', '=', base_url)
    .where('id', '<>', id)
    .where('deleted_at', 'is', null)
    .execute();
  for (const other of others) await syncSoon(tx, other);
}
