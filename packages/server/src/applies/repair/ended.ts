import { json } from '../../db/schema.ts';
import type { RunRow } from '../../db/schema.ts';
import type { Tx } from '../../db/transaction.ts';
import type { RepairResult } from '../../runs/index.ts';
import { commitStaged } from '../../sources/index.ts';
import { encodeManifest } from '../../trees/manifest.ts';
import type { LoadedThread } from '../../threads/index.ts';
import { wakeQueue } from '../wake-queue.ts';

/**
 * Notes a repair's result with its queued apply, keeps its candidate, and lets the apply go on; in the
 * transaction that ends the run.
 */
export async function ended(
  tx: Tx,
  { thread, project }: LoadedThread,
  run: RunRow,
  result: RepairResult | null,
): Promise<void> {
  const apply = await tx.db
    .selectFrom('applies')
    .selectAll()
    .where('id', '=', run.apply_id!)
    .where('status', '=', 'queued')
    .forUpdate()
    .executeTakeFirst();
  if (!apply) return;
  if (result) {
    const noted = apply.repairs.map((repair) =>
      repair.runId === run.id
        ? {
            ...repair,
            error: result.error,
            report: result.report,
            ...(result.fingerprint === null ? {} : { candidateFingerprint: result.fingerprint }),
          }
        : repair,
    );
    await tx.db
      .updateTable('applies')
      .set({ repairs: json(noted) })
      .where('id', '=', apply.id)
      .execute();
  }
  if (result?.candidate) {
    await commitStaged(tx, project, result.candidate.staged);
    await tx.db
      .insertInto('repair_candidates')
      .values({
        org_id: thread.org_id,
        apply_id: apply.id,
        run_id: run.id,
        manifest: encodeManifest(result.candidate.tree),
      })
      .execute();
  }
  await wakeQueue(tx, project.id);
}
