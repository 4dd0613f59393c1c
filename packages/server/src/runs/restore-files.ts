import { loadTree } from '../sources/index.ts';
import type { ClaimedRun } from './claimed-run.ts';
import { settleRun } from './settle-run.ts';
import { takeRun } from './take-run.ts';

/**
 * Works a restore, which is a run without an agent: a new source with an earlier one's files. False when the
 * run is held back.
 */
export async function restoreFiles(claimed: ClaimedRun): Promise<boolean> {
  const { ctx, run: before } = claimed;
  const taken = before.status === 'queued' ? await takeRun(claimed) : { run: before };
  if (taken === 'held') return false;
  if (!taken) return true;
  const { run } = taken;
  const started = { ...claimed, run };
  const restoredId = run.restore_source_id!;
  const tree = await loadTree(ctx, restoredId);
  const settled = await settleRun(started, {
    status: 'completed',
    reply: 'Restored the files of an earlier source.',
    source: {
      tree,
      staged: null,
      origin: 'restore',
      parents: [...new Set([run.base_source_id, restoredId])].filter((id) => id !== null),
    },
  });
  if (settled === 'stopped') await settleRun(started, { status: 'cancelled', reply: '[interrupted]' });
  return true;
}
