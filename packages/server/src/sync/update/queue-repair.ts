import type { BranchUpdate } from '../../db/schema.ts';
import type { Registry } from '../../agents/index.ts';
import type { Tx } from '../../db/transaction.ts';
import { changePullRequest } from '../../pull-requests/index.ts';
import { queueRun } from '../../runs/index.ts';
import { changeThread, reinitialize } from '../../threads/index.ts';
import type { Locked } from '../lock-for-step.ts';

interface Repair {
  modelId: string;
  prompt: string;
  baseSha: string;
  conflicts: string[];
  sides: NonNullable<BranchUpdate['sides']>;
}

/** Queues the run that repairs the conflicts of an update: `run.queued`. Its end ends the update too. */
export async function queueRepair(
  tx: Tx,
  config: Registry,
  { thread, loaded }: Locked,
  { modelId, prompt, baseSha, conflicts, sides: { base, head, draft } }: Repair,
): Promise<void> {
  const update = loaded.row.branch_update!;
  const again = await reinitialize(tx, thread);
  const run = await queueRun(tx, config, thread, {
    kind: 'repair',
    messageId: null,
    modelId,
    prompt,
    createdBy: update.requestedBy,
  });
  await changePullRequest(tx, loaded, {
    branch_update: { ...update, baseSha, conflicts, sides: { base, head, draft } },
    update_run_id: run.id,
  });
  await changeThread(tx, thread, again);
}
