/**
 * The queue of a project: its oldest queued apply is merged with the head of now, then the next one, until
 * none is left. The job holds the project's key, so that heads move one after the other; after a restart an
 * apply is merged anew. A long queue gives way to other projects' again and again.
 *
 *   queued --merged, head as it was--> applied
 *   queued --merged, head moved meanwhile--> queued
 *   queued --its pinned head is not the head--> conflicted `stale_head`
 *   queued --conflicts, manual mode or no agent--> conflicted
 *   queued --conflicts, agent mode--> queued, under repair: passed over until its run has ended
 *   (repair-verdict.ts)
 *   queued --result breaks a rule for sources--> failed `invalid_result`
 *   queued --sources cannot be read or merged, ATTEMPTS times--> failed `source_unavailable`
 */
import type { Context } from '../context.ts';
import type { ApplyRow } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import type { Job } from '../jobs/worker.ts';
import { LostJob } from '../jobs/worker.ts';
import { abandon, stageBlobs } from '../sources/index.ts';
import { invalidResult, mergeRequest } from './merge-request.ts';
import { candidateOutcome, conflictOutcome, lastVerdict } from './repair/outcome.ts';
import type { Verdict } from './repair/verdict.ts';
import { settleApply } from './settle-apply.ts';
import type { Head, Outcome } from './settle-apply.ts';
import { wakeQueue } from './wake-queue.ts';

/** About 6 s with the backoff between them: a store that restarts fails no apply. */
const ATTEMPTS = 6;
/** A worker does few projects at a time: after this long the next one has its turn. */
const TURN_MS = 1_000;

export async function mergeApplies(ctx: Context, job: Job<'apply.merge'>): Promise<void> {
  const began = performance.now();
  while (!job.signal.aborted) {
    if (performance.now() - began > TURN_MS) return giveWay(ctx, job);
    const next = await nextApply(ctx, job.payload.projectId);
    if (!next) return;
    const verdict = await lastVerdict(ctx, next.apply);
    const [apply, { head }] = [verdict ? { ...next.apply, repairs: verdict.repairs } : next.apply, next];
    const outcome = await outcomeOf(ctx, job, apply, head, verdict);
    const isSettled = await settleApply(ctx, job, apply, head, outcome);
    if (!isSettled && outcome.status === 'applied' && 'tree' in outcome)
      await abandon(ctx, { org_id: apply.org_id, id: apply.project_id }, outcome.staged);
    // The attempts were this apply's: those behind it get their own, by the job that its end enqueued.
    if (outcome.status === 'failed' && outcome.isExhausted) return;
  }
}

/** The project's next job waits behind those of others. */
async function giveWay(ctx: Context, job: Job<'apply.merge'>): Promise<void> {
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    await wakeQueue(tx, job.payload.projectId);
  });
}

/** The project's oldest queued apply that is not under repair, with the head as it stands. */
async function nextApply(
  ctx: Context,
  projectId: string,
): Promise<{ apply: ApplyRow; head: Head } | undefined> {
  const row = await ctx.db
    .selectFrom('applies as a')
    .innerJoin('projects as p', 'p.id', 'a.project_id')
    .innerJoin('threads as t', 't.id', 'a.thread_id')
    .selectAll('a')
    .select(['p.head_source_id as now_source_id', 'p.head_revision as now_revision'])
    .where('a.project_id', '=', projectId)
    .where('a.status', '=', 'queued')
    .where('p.deleted_at', 'is', null)
    .where('t.deleted_at', 'is', null)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('runs as r')
            .select('r.id')
            .whereRef('r.apply_id', '=', 'a.id')
            .where('r.status', 'in', ['queued', 'running', 'waiting']),
        ),
      ),
    )
    .orderBy('a.sequence')
    .limit(1)
    .executeTakeFirst();
  if (!row) return undefined;
  const { now_source_id: sourceId, now_revision: revision, ...apply } = row;
  return { apply, head: { sourceId: sourceId!, revision: revision! } };
}

async function outcomeOf(
  ctx: Context,
  job: Job,
  apply: ApplyRow,
  head: Head,
  verdict: Verdict | null,
): Promise<Outcome> {
  if (verdict?.error)
    return {
      status: 'conflicted',
      conflicts: apply.conflicts,
      error: verdict.error,
      headSourceId: verdict.repairs.at(-1)!.headSourceId,
    };
  if (apply.expected_head_source_id !== null && apply.expected_head_source_id !== head.sourceId)
    return {
      status: 'conflicted',
      conflicts: [],
      error:
        'stale_head: The head has moved since this apply was decided. Look at the new head and decide anew.',
      headSourceId: null,
    };
  try {
    return (
      (await candidateOutcome(ctx, apply, head)) ??
      (await reusedSource(ctx, apply, head)) ??
      (await mergeOutcome(ctx, apply, head, verdict?.exhausted ?? null))
    );
  } catch (error) {
    if (error instanceof LostJob || job.signal.aborted || job.failures + 1 < ATTEMPTS) throw error;
    ctx.log.error({ err: error, apply: apply.id }, 'an apply failed: its sources could not be merged');
    return {
      status: 'failed',
      error:
        'source_unavailable: The sources of this apply could not be read or merged. Apply again once the storage is available.',
      headSourceId: null,
      isExhausted: true,
    };
  }
}

/**
 * Results that are there already need no merge. Where the head has moved, only the merge can tell: it has
 * the trees at hand.
 */
async function reusedSource(
  ctx: Context,
  { base_source_id: base, draft_source_id: draft }: ApplyRow,
  head: Head,
): Promise<Outcome | null> {
  if (draft === base) return { status: 'applied', sourceId: head.sourceId };
  if (base !== head.sourceId) return null;
  const hashes = await ctx.db
    .selectFrom('sources')
    .select('sha256')
    .distinct()
    .where('id', 'in', [draft, head.sourceId])
    .execute();
  return { status: 'applied', sourceId: hashes.length === 1 ? head.sourceId : draft };
}

async function mergeOutcome(
  ctx: Context,
  apply: ApplyRow,
  head: Head,
  exhausted: string | null,
): Promise<Outcome> {
  const sides = {
    projectId: apply.project_id,
    base: apply.base_source_id,
    head: head.sourceId,
    draft: apply.draft_source_id,
  };
  const merge = await ctx.merger.merge(mergeRequest(ctx, sides, apply.resolutions));
  if (merge.status === 'conflicted')
    return conflictOutcome(
      ctx,
      apply,
      head,
      merge.conflicts.map((c) => c.path),
      exhausted,
    );
  if (merge.invalid.length)
    return { status: 'failed', error: invalidResult(merge), headSourceId: head.sourceId };
  if (merge.changes.length === 0) return { status: 'applied', sourceId: head.sourceId };
  return {
    status: 'applied',
    tree: merge.tree,
    staged: await stageBlobs(ctx, { org_id: apply.org_id, id: apply.project_id }, merge.newBlobs),
  };
}
