import type { RunRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { transaction } from '../db/transaction.ts';
import { changeThread, lockThreadById } from '../threads/index.ts';
import type { LoadedThread, ThreadChange } from '../threads/index.ts';
import { changeWorkspace, freshDeadline, giveUpRestore } from '../workspaces/index.ts';
import type { ClaimedRun, StartedRun } from './claimed-run.ts';
import { finishRun } from './finish-run.ts';
import type { RunEnd } from './finish-run.ts';
import type { RepairResult } from './repair/attempt.ts';
import { queueUntaken } from './steering.ts';
import { lockOpenRun } from './store.ts';

/**
 * What the workspace holds when a run has ended: what its row says, its base, something else (as the run's source has it, if it
 * has one), more than that source, or nobody knows. Or it could not be made for the run.
 */
export type Leftover = 'as recorded' | 'at base' | 'changed' | 'partly kept' | 'unknown' | 'not restored';

interface Settling {
  leftover?: Leftover;
  /** Whether the workspace is gone, or out of reach: a source of it is of the run's snapshot. */
  isLost?: boolean;
  /** A repair's result; null when it was stopped. */
  repaired?: RepairResult | null;
}

/**
 * The run's last transaction. Nothing is written when the run was ended by its thread meanwhile (`gone`), or
 * when a stop was accepted before it completed (`stopped`).
 */
export async function settleRun(
  { ctx, job, repairs, run, refusals = [] }: ClaimedRun & Partial<Pick<StartedRun, 'refusals'>>,
  end: RunEnd,
  { leftover = 'as recorded', isLost = false, repaired = null }: Settling = {},
): Promise<'ended' | 'stopped' | 'gone'> {
  return transaction(ctx, async (tx) => {
    await job.fence(tx);
    const now = await lockThreadById(tx, run.thread_id);
    if (!now) return 'gone';
    const open = await lockOpenRun(tx, run.id);
    if (!open) return 'gone';
    if (end.status === 'completed' && open.cancel_requested_at) return 'stopped';
    const warnings = [...(end.warnings ?? []), ...refusals];
    const sourceId = await finishRun(tx, now, open, { ...end, warnings });
    const outcome = end.status === 'failed' ? (end.error?.code ?? end.status) : end.status;
    tx.afterCommit.push(() => ctx.metrics.count('headrace_runs_total', { outcome }));
    await queueUntaken(tx, ctx.config, now, { run: open, isCancelled: end.status === 'cancelled' });
    const { workspace_status } = now.thread;
    const idle =
      workspace_status === 'ready' ? { idle_expires_at: await freshDeadline(ctx, tx.db, now.thread) } : {};
    const change = {
      ...(open.kind === 'repair' ? {} : { last_run_failed: end.status === 'failed' }),
      ...sourcesAfter(open, end, { sourceId, leftover }),
      ...(open.kind === 'repair'
        ? {}
        : lostWorkAfter(end, { sourceId, leftover, isLost, isAtHost: now.thread.execution_target !== null })),
      ...idle,
    };
    const thread = await changeThread(tx, now, change, 'always');
    await settleWorkspace(tx, { ...now, thread }, { runId: run.id, sourceId, leftover });
    if (open.kind === 'repair') await repairs.ended(tx, { ...now, thread }, open, repaired);
    return 'ended';
  });
}

/** The thread's source, and the one that its workspace holds. */
function sourcesAfter(
  run: RunRow,
  end: RunEnd,
  { sourceId, leftover }: { sourceId: string | null; leftover: Leftover },
): ThreadChange {
  const isNewest = end.status === 'completed' && sourceId !== null;
  // A restore writes no workspace: the next use of it does.
  const isHeld = leftover === 'changed' || (isNewest && end.source!.origin === 'run');
  return {
    ...(isNewest ? { latest_source_id: sourceId } : {}),
    ...(isHeld ? { workspace_source_id: sourceId } : {}),
    ...(leftover === 'partly kept' ? { workspace_source_id: null } : {}),
    // It may have begun with the work of a lost run, which is in no source that it has now.
    ...(leftover === 'at base' && run.kind !== 'repair' ? { workspace_source_id: run.base_source_id } : {}),
  };
}

/**
 * The work of lost runs, or of any that failed or was stopped at a host, that the next message goes on from. A lost run without a snapshot leaves that of the one
 * before, which it had gone on from; so does one whose agent never worked.
 */
interface Left {
  sourceId: string | null;
  leftover: Leftover;
  isLost: boolean;
  isAtHost: boolean;
}

function lostWorkAfter(end: RunEnd, { sourceId, leftover, isLost, isAtHost }: Left): ThreadChange {
  const hasWorked = leftover !== 'as recorded' && leftover !== 'not restored';
  const isKept = end.status === 'failed' || (end.status === 'cancelled' && isAtHost);
  if (!isKept || (hasWorked && !isLost && !isAtHost)) return { lost_work_source_id: null };
  return sourceId === null ? {} : { lost_work_source_id: sourceId };
}

async function settleWorkspace(
  tx: Tx,
  loaded: LoadedThread,
  { runId, sourceId, leftover }: { runId: string; sourceId: string | null; leftover: Leftover },
): Promise<void> {
  if (leftover === 'unknown' && loaded.thread.workspace_status === 'ready')
    await changeWorkspace(tx, loaded, {
      event: 'vanish',
      reason: 'the runtime vanished',
      runId,
      sourceId,
      change: { idle_expires_at: null },
    });
  if (leftover === 'not restored') await giveUpRestore(tx, loaded, runId);
}
