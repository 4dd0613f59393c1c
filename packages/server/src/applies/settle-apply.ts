import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { ApplyRow } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import type { Job } from '../jobs/job.ts';
import { moveHead } from '../projects/index.ts';
import { insertSource } from '../sources/index.ts';
import { changeThread } from '../threads/index.ts';
import type { LoadedThread } from '../threads/index.ts';
import { endApply } from './end-apply.ts';
import type { Merged, Outcome, QueuedApply } from './outcome.ts';
import { lockProjectAndThread } from './policy.ts';
import { queueRepair } from './repair/queue-repair.ts';
import { deleteCandidate, setRepairs } from './store.ts';
import { wakeQueue } from './wake-queue.ts';

/**
 * The last transaction of an apply. Writes nothing and returns false when the apply was cancelled
 * meanwhile, or the head is no longer the one that it was merged with.
 */
export async function settleApply(
  ctx: Context,
  job: Job,
  { apply, head }: QueuedApply,
  outcome: Outcome,
): Promise<boolean> {
  return transaction(ctx, async (tx) => {
    await job.fence(tx);
    const loaded = await lockProjectAndThread(tx, apply.project_id, apply.thread_id);
    if (!loaded || loaded.thread.active_apply_id !== apply.id) return false;
    const { head_source_id: sourceId, head_revision: revision } = loaded.project;
    if (sourceId !== head.sourceId || revision !== head.revision) return false;
    await keepVerdict(tx, apply);
    if (outcome.event === 'repair') {
      await queueRepair(tx, ctx.config, loaded, { apply, head, ...outcome });
      return true;
    }
    const ended =
      outcome.event === 'merge'
        ? await moveHeadToResult(tx, loaded, { apply, head }, outcome)
        : await reopenThread(tx, loaded, apply, outcome);
    if (ended) tx.afterCommit.push(() => measure(ctx, ended));
    return true;
  });
}

function measure({ metrics }: Context, { status, repairs, created_at, finished_at }: ApplyRow): void {
  if (status === 'queued') return;
  metrics.observe(
    'headrace_apply_duration_seconds',
    { outcome: repairs.length > 0 ? 'repaired' : status },
    (finished_at!.getTime() - created_at.getTime()) / 1000,
  );
}

/** The last repair is decided on: its verdict is kept, its candidate is not. */
async function keepVerdict(tx: Tx, apply: ApplyRow): Promise<void> {
  if (apply.repairs.length === 0) return;
  await setRepairs(tx, apply.id, apply.repairs);
  await deleteCandidate(tx, apply.id);
}

/** Moves the head to the result, even where that is the same source, and seals the draft. */
async function moveHeadToResult(
  tx: Tx,
  loaded: LoadedThread,
  { apply, head }: QueuedApply,
  merged: Merged,
): Promise<ApplyRow | undefined> {
  const { thread, project } = loaded;
  const sourceId =
    'sourceId' in merged
      ? merged.sourceId
      : (
          await insertSource(tx, project, {
            tree: merged.tree,
            parents: [head.sourceId, apply.draft_source_id],
            origin: 'apply',
            threadId: thread.id,
            runId: null,
            message: null,
            staged: merged.staged,
          })
        ).id;
  const ended = await endApply(tx, loaded, apply.id, {
    event: 'merge',
    headSourceId: head.sourceId,
    resultSourceId: sourceId,
  });
  await moveHead(tx, project, sourceId, apply.id);
  await changeThread(tx, loaded, { active_apply_id: null, sealed_at: sql<Date>`now()` }, 'always');
  return ended;
}

/** The head stays, and the draft takes work again. */
async function reopenThread(
  tx: Tx,
  loaded: LoadedThread,
  apply: ApplyRow,
  outcome: Extract<Outcome, { event: 'conflict' | 'fail' }>,
): Promise<ApplyRow | undefined> {
  const ended = await endApply(tx, loaded, apply.id, outcome);
  await changeThread(tx, loaded, { active_apply_id: null }, 'always');
  if (outcome.event === 'fail' && outcome.isExhausted) await wakeQueue(tx, apply);
  return ended;
}
