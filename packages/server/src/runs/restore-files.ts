import { loadTree } from '../sources/index.ts';
import type { ClaimedRun } from './claimed-run.ts';
import { settleRun } from './settle-run.ts';
import { takeRun } from './take-run.ts';

/**
 * Works a restore, which is a run without an agent: a new source with a checkpoint's files. False when the
 * run is held back.
 */
export async function restoreFiles(claimed: ClaimedRun): Promise<boolean> {
  const { ctx, run: before } = claimed;
  const run = before.status === 'queued' ? await takeRun(claimed) : before;
  if (run === 'held') return false;
  if (!run) return true;
  const started = { ...claimed, run };
  const checkpoint = await ctx.db
    .selectFrom('checkpoints')
    .select('source_id')
    .where('id', '=', run.checkpoint_id!)
    .executeTakeFirstOrThrow();
  const tree = await loadTree(ctx, checkpoint.source_id);
  const settled = await settleRun(started, {
    status: 'completed',
    reply: 'Restored the files of the checkpoint.',
    source: {
      tree,
      staged: null,
      origin: 'restore',
      parents: [...new Set([run.base_source_id, checkpoint.source_id])].filter((id) => id !== null),
    },
  });
  if (settled === 'stopped') await settleRun(started, { status: 'cancelled', reply: '[interrupted]' });
  return true;
}
