import type { RepositoryRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { enqueueUnlessWaiting } from '../jobs/enqueue.ts';

/**
 * Something moved in a repository, or at one pull request of it alone: it is looked at soon, once for all that
 * moves until then.
 */
export const lookSoon = (
  tx: Tx,
  { id, org_id }: Pick<RepositoryRow, 'id' | 'org_id'>,
  number?: number,
): Promise<void> =>
  enqueueUnlessWaiting(
    tx,
    'scm.look-repository',
    number === undefined ? { repositoryId: id } : { repositoryId: id, number },
    {
      key: number === undefined ? `look:${id}` : `look:${id}:${number}`,
      turnOf: { org_id, project_id: id },
    },
  );
