import type { Tx } from '../db/transaction.ts';
import type { EventScope } from '../db/transaction.ts';
import { cancelQueued } from './cancel-queued.ts';
import { lockAutomationsOf, markAutomationsDeleted } from './store.ts';

/** Ends the automations of a project that is being deleted: `automation.execution.updated` for what is queued. */
export async function endAutomationsOf(tx: Tx, scope: EventScope & { projectId: string }): Promise<void> {
  const ids = (await lockAutomationsOf(tx, scope.projectId)).map(({ id }) => id);
  if (ids.length === 0) return;
  for (const id of ids) await cancelQueued(tx, { automation: { id }, scope });
  await markAutomationsDeleted(tx, ids);
}
