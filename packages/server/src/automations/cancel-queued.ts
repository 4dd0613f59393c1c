import type { Tx } from '../db/transaction.ts';
import { publishExecution } from './admit.ts';
import { cancelRows } from './execution-store.ts';
import type { LockedAutomation } from './execution-store.ts';

/** Cancels the queued executions of a locked automation that is disabled or deleted: `automation.execution.updated` each. */
export async function cancelQueued(
  tx: Tx,
  { automation, scope }: Pick<LockedAutomation, 'scope'> & { automation: { id: string } },
): Promise<void> {
  for (const row of await cancelRows(tx, automation.id, 'queued')) publishExecution(tx, scope, row);
}
