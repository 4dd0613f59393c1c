import type { RepositoryRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { enqueueUnlessWaiting } from '../jobs/enqueue.ts';

/** Something moved in a repository: it is looked at soon, once for all that moves until then. */
export const lookSoon = (tx: Tx, { id, org_id }: Pick<RepositoryRow, 'id' | 'org_id'>): Promise<void> =>
  enqueueUnlessWaiting(
    tx,
    'scm.look-repository',
    { repositoryId: id },
    { key: `look:${id}`, turnOf: { org_id, project_id: id } },
  );
