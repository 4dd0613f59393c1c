import type { RunRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { requireHostFor, requireNoHost } from '../hosts/index.ts';
import type { Call } from '../http/operation.ts';
import { requireWorker } from '../processes/index.ts';
import { effectiveSettings } from '../settings/index.ts';
import { changeThread, reinitialize, requireOpen, requireUnoccupied } from '../threads/index.ts';
import type { LoadedThread } from '../threads/index.ts';
import { queueRun } from './queue-run.ts';

/** Queues the run that makes a new source with the files of an earlier one, in a locked thread. */
export async function queueRestore(
  tx: Tx,
  { ctx, principal }: Pick<Call, 'ctx' | 'principal'>,
  loaded: LoadedThread,
  sourceId: string,
): Promise<RunRow> {
  await requireHostFor(tx, principal, loaded.thread);
  requireNoHost(loaded.thread, 'direct');
  requireOpen(loaded.thread);
  requireUnoccupied(loaded.thread);
  await requireWorker(ctx, tx.db);
  const again = await reinitialize(tx, loaded);
  const modelId = loaded.thread.model_id ?? (await effectiveSettings(tx.db, loaded.project)).modelId;
  const run = await queueRun(tx, ctx.config, loaded, {
    kind: 'restore',
    messageId: null,
    modelId,
    restoreSourceId: sourceId,
    createdBy: principal.actorId,
  });
  await changeThread(tx, loaded, again, 'always');
  return run;
}
