import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { ApplyRow } from '../db/schema.ts';
import { json } from '../db/schema.ts';
import { appendEvent, transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import type { Job } from '../jobs/worker.ts';
import { moveHead, scopeOf } from '../projects/index.ts';
import { insertSource } from '../sources/index.ts';
import type { Staged } from '../sources/index.ts';
import type { Tree } from '../trees/tree.ts';
import { changeThread } from '../threads/index.ts';
import type { LoadedThread } from '../threads/index.ts';
import { dropCandidate, endApply } from './end-apply.ts';
import { lockProjectAndThread } from './policy.ts';
import { queueRepair } from './repair/queue-repair.ts';
import { wakeQueue } from './wake-queue.ts';

/** What an apply was merged with. */
export interface Head {
  sourceId: string;
  revision: number;
}

/** `headSourceId`: the head that was merged with, null when none was. */
export type Outcome =
  | { status: 'applied'; sourceId: string }
  | { status: 'applied'; tree: Tree; staged: Staged }
  /** Stays queued: an agent is to resolve the conflicts. */
  | { status: 'repair'; conflicts: string[]; modelId: string; prompt: string }
  | { status: 'conflicted'; conflicts: string[]; error: string | null; headSourceId: string | null }
  /** `isExhausted`: not a verdict on the merge, but the end of attempts at it. */
  | { status: 'failed'; error: string; headSourceId: string | null; isExhausted?: boolean };

/**
 * The last transaction of an apply. Writes nothing and returns false when the apply was cancelled
 * meanwhile, or the head is no longer the one that it was merged with.
 */
export async function settleApply(
  ctx: Context,
  job: Job,
  apply: ApplyRow,
  head: Head,
  outcome: Outcome,
): Promise<boolean> {
  return transaction(ctx, async (tx) => {
    await job.fence(tx);
    const loaded = await lockProjectAndThread(tx, apply.project_id, apply.thread_id);
    if (!loaded || loaded.thread.active_apply_id !== apply.id) return false;
    const { head_source_id: sourceId, head_revision: revision } = loaded.project;
    if (sourceId !== head.sourceId || revision !== head.revision) return false;
    await noteRepairs(tx, apply);
    if (outcome.status === 'applied') await moveOn(tx, loaded, apply, head, outcome);
    else if (outcome.status === 'repair') await queueRepair(tx, ctx.config, loaded, apply, head, outcome);
    else await reopen(tx, loaded, apply, outcome);
    return true;
  });
}

/** The last repair is decided on: what became of it is kept, its candidate is not. */
async function noteRepairs(tx: Tx, apply: ApplyRow): Promise<void> {
  if (apply.repairs.length === 0) return;
  await tx.db
    .updateTable('applies')
    .set({ repairs: json(apply.repairs) })
    .where('id', '=', apply.id)
    .execute();
  await dropCandidate(tx, apply.id);
}

/** The head moves, also to the source that it is at already, and the draft is sealed. */
async function moveOn(
  tx: Tx,
  loaded: LoadedThread,
  apply: ApplyRow,
  head: Head,
  outcome: Extract<Outcome, { status: 'applied' }>,
): Promise<void> {
  const { thread, project } = loaded;
  const sourceId =
    'tree' in outcome
      ? (
          await insertSource(tx, project, {
            tree: outcome.tree,
            parents: [head.sourceId, apply.draft_source_id],
            origin: 'apply',
            threadId: thread.id,
            runId: null,
            message: null,
            staged: outcome.staged,
          })
        ).id
      : outcome.sourceId;
  await tx.db
    .updateTable('applies')
    .set({
      status: 'applied',
      conflicts: json([]),
      head_source_id: head.sourceId,
      result_source_id: sourceId,
      finished_at: sql<Date>`now()`,
    })
    .where('id', '=', apply.id)
    .execute();
  appendEvent(
    tx,
    scopeOf(project),
    'platform.apply.applied',
    { id: apply.id, status: 'applied', sourceId },
    { threadId: thread.id },
  );
  await moveHead(tx, project, sourceId, apply.id);
  await changeThread(tx, loaded, { active_apply_id: null, sealed_at: sql<Date>`now()` }, 'always');
}

/** The head stays, the draft takes work again. */
async function reopen(
  tx: Tx,
  loaded: LoadedThread,
  apply: ApplyRow,
  outcome: Exclude<Outcome, { status: 'applied' | 'repair' }>,
): Promise<void> {
  await endApply(tx, loaded, apply.id, outcome);
  await changeThread(tx, loaded, { active_apply_id: null }, 'always');
  if (outcome.status === 'failed' && outcome.isExhausted) await wakeQueue(tx, apply.project_id);
}
