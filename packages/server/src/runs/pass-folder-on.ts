import type { ThreadRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { folderWait } from '../hosts/index.ts';
import { wakeWaiting } from '../jobs/store.ts';

/** A run that has ended in a folder of a host passes it on to the runs of other threads that wait for it. */
export async function passFolderOn(
  tx: Tx,
  { execution_target: target }: Pick<ThreadRow, 'execution_target'>,
): Promise<void> {
  if (target?.workspaceMode === 'direct') await wakeWaiting(tx, folderWait(target.bindingId));
}
