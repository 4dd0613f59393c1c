import type { RunRow } from '../../db/schema.ts';
import type { Tx } from '../../db/transaction.ts';
import { expireReplaced } from '../../sources/index.ts';
import type { Staged } from '../../sources/index.ts';
import { removeSnapshot } from './store.ts';

/**
 * Removes the snapshot of a locked run that ends, and has its object deleted, unless the run's source (`kept`)
 * has taken that over.
 */
export async function dropSnapshot(tx: Tx, run: RunRow, kept: Staged | undefined): Promise<void> {
  if (run.snapshot_at === null) return;
  const key = await removeSnapshot(tx, run.id);
  if (key !== null && key !== kept?.objectKey) await expireReplaced(tx, [key], 0);
}
