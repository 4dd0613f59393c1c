import type { RunRow } from '../../db/schema.ts';
import type { Tx } from '../../db/transaction.ts';
import type { RepairResult } from '../../runs/index.ts';
import { commitStaged } from '../../sources/index.ts';
import { encodeManifest } from '../../trees/manifest.ts';
import type { LoadedThread } from '../../threads/index.ts';
import { insertCandidate, lockOpenApply, setRepairs } from '../store.ts';
import { wakeQueue } from '../wake-queue.ts';

/**
 * Records a repair's result with its queued apply, keeps its candidate, and lets the apply go on; in the
 * transaction that ends the run. `result` is null when the run was stopped.
 */
export async function recordResult(
  tx: Tx,
  { thread, project }: LoadedThread,
  run: RunRow,
  result: RepairResult | null,
): Promise<void> {
  const apply = await lockOpenApply(tx, run.apply_id!);
  if (!apply) return;
  if (result) {
    const { error, report, fingerprint } = result;
    const found = { error, report, ...(fingerprint === null ? {} : { candidateFingerprint: fingerprint }) };
    const repairs = apply.repairs.map((repair) =>
      repair.runId === run.id ? { ...repair, ...found } : repair,
    );
    await setRepairs(tx, apply.id, repairs);
  }
  if (result?.candidate) {
    await commitStaged(tx, project, result.candidate.staged);
    await insertCandidate(tx, {
      org_id: thread.org_id,
      apply_id: apply.id,
      run_id: run.id,
      manifest: encodeManifest(result.candidate.tree),
    });
  }
  await wakeQueue(tx, apply);
}
