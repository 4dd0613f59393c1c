import type { Tx } from '../db/transaction.ts';
import type { EventScope } from '../db/transaction.ts';
import { publishExecution } from './admit.ts';
import { cancelRows } from './execution-store.ts';
import { lockAutomationsOf, markAutomationsDeleted } from './store.ts';

/**
 * Ends the automations of a project whose threads have just been deleted, in the same transaction:
 * `automation.execution.updated` for what is open. Nothing of a deleted app is published later.
 */
export async function endAutomationsOf(tx: Tx, scope: EventScope & { projectId: string }): Promise<void> {
  const ids = (await lockAutomationsOf(tx, scope.projectId)).map(({ id }) => id);
  if (ids.length === 0) return;
  for (const id of ids) for (const row of await cancelRows(tx, id, 'open')) publishExecution(tx, scope, row);
  await markAutomationsDeleted(tx, ids);
}
