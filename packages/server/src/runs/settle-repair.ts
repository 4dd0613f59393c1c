import { abandon } from '../sources/index.ts';
import { whatRepairMade } from './repair/repair.ts';
import type { RepairRun, RepairTurn } from './repair/repair.ts';
import { dropWorkspace } from './settle-failure.ts';
import { settleRun } from './settle-run.ts';
import type { Leftover } from './settle-run.ts';

/** Settles a repair, with its result for the apply. */
export async function settleRepair(started: RepairRun, turn: RepairTurn): Promise<void> {
  const { ctx, run } = started;
  const { end, result, capture } = await whatRepairMade(started, turn);
  const leftover: Leftover = capture ? 'at base' : 'unknown';
  const settled = await settleRun(started, end, { leftover, repaired: result });
  if (settled !== 'ended' && result?.candidate)
    await abandon(ctx, { org_id: run.org_id, id: run.project_id }, result.candidate.staged);
  if (settled === 'ended' && !capture) await dropWorkspace(started);
  if (settled === 'stopped')
    await settleRun(started, { status: 'cancelled', reply: '[interrupted]' }, { leftover });
}
