import { sql } from 'kysely';
import type { Config } from '../../config.ts';
import type { ApplyRow, Repair } from '../../db/schema.ts';
import { json } from '../../db/schema.ts';
import type { Tx } from '../../db/transaction.ts';
import { queueRun } from '../../runs/index.ts';
import type { LoadedThread } from '../../threads/index.ts';
import type { Head } from '../settle-apply.ts';

/**
 * Queues a repair run for a locked thread's apply, which stays queued; publishes `run.queued`. The first
 * one starts the time of all.
 */
export async function queueRepair(
  tx: Tx,
  config: Config,
  loaded: LoadedThread,
  apply: ApplyRow,
  head: Head,
  { conflicts, modelId, prompt }: { conflicts: string[]; modelId: string; prompt: string },
): Promise<void> {
  const run = await queueRun(tx, config, loaded, {
    kind: 'repair',
    messageId: null,
    modelId,
    prompt,
    applyId: apply.id,
    createdBy: apply.created_by,
  });
  const repair: Repair = {
    runId: run.id,
    headSourceId: head.sourceId,
    revision: head.revision,
    startedAt: run.created_at.toISOString(),
    error: null,
    report: null,
  };
  await tx.db
    .updateTable('applies')
    .set({
      repairs: json([...apply.repairs, repair]),
      conflicts: json(conflicts),
      repair_deadline: sql<Date>`coalesce(repair_deadline, now() + ${config.repairBudgetSeconds} * interval '1 second')`,
    })
    .where('id', '=', apply.id)
    .execute();
}
