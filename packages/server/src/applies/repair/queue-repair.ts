import type { Config } from '../../config.ts';
import type { Tx } from '../../db/transaction.ts';
import { queueRun } from '../../runs/index.ts';
import type { LoadedThread } from '../../threads/index.ts';
import type { QueuedApply } from '../outcome.ts';
import { addRepair } from '../store.ts';

/** Queues a repair run for a locked thread's apply, which stays queued; publishes `run.queued`. */
export async function queueRepair(
  tx: Tx,
  config: Config,
  loaded: LoadedThread,
  {
    apply,
    head,
    conflicts,
    modelId,
    prompt,
  }: QueuedApply & { conflicts: string[]; modelId: string; prompt: string },
): Promise<void> {
  const run = await queueRun(tx, config, loaded, {
    kind: 'repair',
    messageId: null,
    modelId,
    prompt,
    applyId: apply.id,
    createdBy: apply.created_by,
  });
  await addRepair(tx, apply, {
    repair: {
      runId: run.id,
      headSourceId: head.sourceId,
      revision: head.revision,
      startedAt: run.created_at.toISOString(),
      error: null,
      report: null,
    },
    conflicts,
    budgetSeconds: config.repairBudgetSeconds,
  });
}
