import type { RepositoryRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { enqueueUnlessWaiting } from '../jobs/enqueue.ts';
import type { Moved } from './provider.ts';

/** Enqueues a look after a change in a repository: one for all equal changes until then. */
export const lookSoon = (
  tx: Tx,
  { id, org_id }: Pick<RepositoryRow, 'id' | 'org_id'>,
  moved: Moved = {},
): Promise<void> =>
  enqueueUnlessWaiting(
    tx,
    'scm.look-repository',
    { repositoryId: id, ...moved },
    {
      // A branch name may be a number.
      key: ['look', id, ...Object.entries(moved).flat()].join(':'),
      turnOf: { org_id, project_id: id },
    },
  );
