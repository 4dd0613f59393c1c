import { transaction } from '../../db/transaction.ts';
import { commitObject, expireReplaced, loadTree, sameTree, stagedTooLong } from '../../sources/index.ts';
import type { Staged } from '../../sources/index.ts';
import { applyDelta } from '../../trees/manifest.ts';
import type { Tree } from '../../trees/tree.ts';
import type { ClaimedRun } from '../claimed-run.ts';
import type { RunEnd } from '../finish-run.ts';
import { markSnapshot } from '../store.ts';
import { findSnapshot, replaceSnapshot } from './store.ts';

/**
 * Makes a capture the run's snapshot, and has the object of the one before deleted. False where the run has
 * ended: then nothing is changed. Throws where another worker has the run.
 */
export async function keepSnapshot(
  { ctx, job, run }: ClaimedRun,
  { delta, staged }: { delta: Buffer; staged: Staged },
): Promise<boolean> {
  return transaction(ctx, async (tx) => {
    await job.fence(tx);
    if (!(await markSnapshot(tx, run.id))) return false;
    if (staged && !(await commitObject(tx, staged.objectKey))) throw stagedTooLong();
    const before = await replaceSnapshot(tx, {
      org_id: run.org_id,
      run_id: run.id,
      delta,
      pack_id: staged?.packId ?? null,
      object_key: staged?.objectKey ?? null,
      byte_size: staged?.byteSize ?? null,
      pack_index: staged?.index ?? null,
    });
    if (before !== null) await expireReplaced(tx, [before], 0);
    return true;
  });
}

/**
 * What a run whose workspace is gone keeps: the files of its snapshot. Undefined where there is none, or they are
 * those that it began with.
 */
export async function snapshotSource({
  ctx,
  run,
}: Pick<ClaimedRun, 'ctx' | 'run'>): Promise<RunEnd['source']> {
  const snapshot = await findSnapshot(ctx.db, run.id);
  if (!snapshot) return undefined;
  const { base_source_id: baseSourceId } = run;
  const base: Tree = baseSourceId === null ? new Map() : await loadTree(ctx, baseSourceId);
  const tree = applyDelta(base, snapshot.delta);
  const { lost_work_source_id: lost } = snapshot;
  if (sameTree(tree, base) || (lost !== null && sameTree(tree, await loadTree(ctx, lost)))) return undefined;
  const { pack_id: packId, object_key: objectKey, byte_size: byteSize, pack_index: index } = snapshot;
  const staged =
    packId === null ? null : { packId, objectKey: objectKey!, byteSize: byteSize!, index: index! };
  return { tree, staged, origin: 'recovery', parents: baseSourceId === null ? [] : [baseSourceId] };
}
