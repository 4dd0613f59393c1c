/**
 * The queue of a project. Its oldest queued apply is merged with the head of now, then the next one, until
 * none is left; an apply under repair is passed over until its run has ended. The job holds the project's
 * key, so heads move one after the other. After a restart an apply is merged again.
 */
import type { Context } from '../context.ts';
import type { ApplyRow } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import type { Job } from '../jobs/job.ts';
import { LostJob } from '../jobs/job.ts';
import { abandon } from '../sources/index.ts';
import { mergeOutcome, reusedSource } from './merge-outcome.ts';
import type { Head, Outcome, QueuedApply } from './outcome.ts';
import { candidateOutcome } from './repair/candidate.ts';
import { lastVerdict } from './repair/last-verdict.ts';
import type { Verdict } from './repair/verdict.ts';
import { settleApply } from './settle-apply.ts';
import { nextApply } from './store.ts';
import { wakeQueue } from './wake-queue.ts';

type MergeJob = Job<'apply.merge'>;

/** About 6 s with the backoff between them: a store that restarts fails no apply. */
const ATTEMPTS = 6;
/** A worker does few projects at a time: a long queue gives way to other projects after this long. */
const TURN_MS = 1_000;

export async function mergeApplies(ctx: Context, job: MergeJob): Promise<void> {
  const began = performance.now();
  while (!job.signal.aborted) {
    const next = await nextApply(ctx.db, job.payload.projectId);
    if (!next) return;
    if (performance.now() - began > TURN_MS) return giveWay(ctx, job, next.apply);
    const outcome = await mergeApply(ctx, job, next);
    // The attempts were this apply's: those behind it get their own, by the job that its end enqueued.
    if (outcome.event === 'fail' && outcome.isExhausted) return;
  }
}

/** The project's next job waits behind those of others. */
async function giveWay(ctx: Context, job: MergeJob, apply: QueuedApply['apply']): Promise<void> {
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    await wakeQueue(tx, apply);
  });
}

async function mergeApply(ctx: Context, job: MergeJob, next: QueuedApply): Promise<Outcome> {
  const verdict = await lastVerdict(ctx, next.apply);
  const queued = verdict ? { ...next, apply: { ...next.apply, repairs: verdict.repairs } } : next;
  const outcome =
    repairFailure(queued.apply, verdict) ??
    staleHead(queued.apply, queued.head) ??
    (await merged(ctx, job, queued, verdict));
  const isSettled = await settleApply(ctx, job, queued, outcome);
  if (!isSettled && outcome.event === 'merge' && 'tree' in outcome)
    await abandon(ctx, { org_id: next.apply.org_id, id: next.apply.project_id }, outcome.staged);
  return outcome;
}

function repairFailure(apply: ApplyRow, verdict: Verdict | null): Outcome | null {
  if (!verdict?.error) return null;
  return {
    event: 'conflict',
    conflicts: apply.conflicts,
    error: verdict.error,
    headSourceId: verdict.repairs.at(-1)!.headSourceId,
  };
}

function staleHead({ expected_head_source_id: expected }: ApplyRow, head: Head): Outcome | null {
  if (expected === null || expected === head.sourceId) return null;
  return {
    event: 'conflict',
    conflicts: [],
    error:
      'stale_head: The head has moved since this apply was decided. Look at the new head and decide again.',
    headSourceId: null,
  };
}

/** The outcome by the cheapest way that there is. Throws while there are attempts left. */
async function merged(
  ctx: Context,
  job: MergeJob,
  queued: QueuedApply,
  verdict: Verdict | null,
): Promise<Outcome> {
  try {
    return (
      (await candidateOutcome(ctx, queued)) ??
      (await reusedSource(ctx, queued)) ??
      (await mergeOutcome(ctx, queued, verdict?.exhausted ?? null))
    );
  } catch (error) {
    if (error instanceof LostJob || job.signal.aborted || job.failures + 1 < ATTEMPTS) throw error;
    ctx.log.error({ err: error, apply: queued.apply.id }, 'an apply failed: its sources could not be merged');
    return {
      event: 'fail',
      error:
        'source_unavailable: The sources of this apply could not be read or merged. Apply again once the storage is available.',
      headSourceId: null,
      isExhausted: true,
    };
  }
}
