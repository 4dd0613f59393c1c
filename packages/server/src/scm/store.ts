/**
 * The only writer of `installations`, `repositories`, `commit_statuses`, `local_pull_requests`,
 * `local_comments` and `scm_deliveries`.
 */
import type { Tx } from '../db/transaction.ts';
import { newId } from '../ids.ts';

/** The built-in installation that every organization has. */
export async function insertLocalInstallation(tx: Tx, orgId: string): Promise<void> {
  await tx.db
    .insertInto('installations')
    .values({
      org_id: orgId,
      id: newId('ins'),
      provider: 'local',
      name: 'Built-in',
      auth: 'none',
      managed_by: 'service',
    })
    .execute();
}
