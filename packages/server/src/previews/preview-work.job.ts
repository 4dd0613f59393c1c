/**
 * The job behind a preview, held as long as it is open: starts its sandbox, follows its command, writes newer
 * sources into it, and removes it once the row says that it is over. A worker that takes the job over finds
 * the sandbox at the runner and follows on.
 */
import type { Context } from '../context.ts';
import { transaction } from '../db/transaction.ts';
import type { Job } from '../jobs/job.ts';
import { findTask } from '../runner/find-task.ts';
import { isLost } from '../runner/at-runner.ts';
import { awaitRoom, freeAfter, placeWork, stayAt } from '../runner/place-work.ts';
import { requireRunner } from '../runner/runner-id.ts';
import { sandboxOf } from '../settings/index.ts';
import { setupOrWait } from '../setups/index.ts';
import { bringFirst } from './bring-source.ts';
import { changeFenced, changePreview, projectOf } from './change-preview.ts';
import { followPreview } from './follow-preview.ts';
import { LATE, LAYERS_LOST, LOST, SETUP_FAILED } from './outcome.ts';
import type { Outcome } from './outcome.ts';
import { previewKey } from './reconcile.ts';
import { LIFE_SECONDS, START_SECONDS } from './schemas.ts';
import { isOpen } from './state.ts';
import { findPreviewNow, holdStart, resumeStart, setRunner } from './store.ts';
import type { PreviewNow } from './store.ts';
import { watchPreview } from './watch-preview.ts';

type PreviewJob = Job<'preview.work'>;

export async function workPreview(ctx: Context, job: PreviewJob): Promise<void> {
  const { previewId } = job.payload;
  const preview = await findPreviewNow(ctx.db, previewId);
  if (!preview) return;
  const at = await placePreview(ctx, job, preview);
  if (typeof at === 'string') return waitForRoom(ctx, job, at);
  let outcome: Outcome;
  try {
    outcome = await work(at, job, preview);
  } finally {
    await freeAfter(ctx, job, previewKey(previewId));
  }
  if (outcome.kind === 'moves') await workPreview(ctx, job);
}

async function work(ctx: Context, job: PreviewJob, preview: PreviewNow): Promise<Outcome> {
  const outcome: Outcome = isOpen(preview) ? await show(ctx, job, preview) : { kind: 'over' };
  if (outcome.kind === 'left') return outcome;
  // Visitors come to the other one from here on.
  if (outcome.kind === 'moves') await changeFenced(ctx, job, preview, { event: 'move' });
  if (outcome.kind === 'failed')
    await changeFenced(ctx, job, preview, { event: 'fail', error: outcome.error });
  // What a lost runner has of it ends with its lease, or with its next report.
  if (!(await isLost(ctx, ctx.at?.id ?? null))) await ctx.runner.deleteTask(preview.id);
  return outcome;
}

/** The context of its runner: the one that has its sandbox, or one with room, which its row names before it starts there. */
async function placePreview(
  ctx: Context,
  job: PreviewJob,
  preview: PreviewNow,
): Promise<Context | 'no room' | 'suspect'> {
  if (!ctx.fleet) return ctx;
  const holder = previewKey(preview.id);
  if (preview.runner_id !== null || !isOpen(preview)) return stayAt(ctx, holder, preview.runner_id);
  const at = await placeWork(ctx, { holder, projectId: preview.project_id, near: null });
  if (typeof at !== 'string')
    await transaction(ctx, async (tx) => {
      await job.fence(tx);
      await setRunner(tx, preview.id, at.at!.id);
    });
  return at;
}

async function waitForRoom(ctx: Context, job: PreviewJob, why: 'no room' | 'suspect'): Promise<void> {
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    await awaitRoom(tx, job, why);
  });
}

/**
 * Fails a preview whose job failed too often: it could not be started or followed. The reconciler removes its
 * sandbox.
 */
export async function previewDied(ctx: Context, previewId: string): Promise<void> {
  const preview = await findPreviewNow(ctx.db, previewId);
  if (!preview) return;
  await transaction(ctx, (tx) =>
    changePreview(tx, projectOf(preview), previewId, {
      event: 'fail',
      error: {
        code: 'sandbox_lost',
        message: 'No sandbox could be made for it. Try again, or ask the operator to look at the runner.',
      },
    }),
  );
}

/** Serves the preview until its command ends or its row is over, whichever is first. */
async function show(ctx: Context, job: PreviewJob, preview: PreviewNow): Promise<Outcome> {
  if (preview.is_late) return { kind: 'failed', error: LATE };
  if (await isLost(ctx, ctx.at?.id ?? null)) return { kind: 'failed', error: LOST };
  const failed = await ensureTask(ctx, job, preview);
  if (failed) return failed;
  const stop = new AbortController();
  const signal = AbortSignal.any([job.signal, stop.signal]);
  const both = [followPreview(ctx, job, preview, signal), watchPreview(ctx, job, preview, signal)];
  try {
    return await Promise.race(both);
  } finally {
    stop.abort();
    await Promise.allSettled(both);
  }
}

/** Starts the sandbox, or finds it. Returns the outcome where one that was ready is gone, or none is started now. */
async function ensureTask(ctx: Context, job: PreviewJob, preview: PreviewNow): Promise<Outcome | undefined> {
  requireRunner(ctx);
  let task = await findTask(ctx, preview.id);
  if (!task && preview.status === 'ready') return { kind: 'failed', error: LOST };
  if (task && task.status !== 'preparing') return undefined;
  const found = await findLayer(ctx, job, preview);
  if ('kind' in found) return found;
  // The runner's limit is later than the row's: it is for a service that does not come back.
  task ??= await ctx.runner.startTask(preview.id, {
    kind: 'preview',
    command: preview.command,
    port: preview.port,
    timeoutMs: (LIFE_SECONDS + START_SECONDS) * 1000,
    ...(await sandboxOf(ctx, preview, 'preview')),
  });
  if (task.status === 'preparing') await bringFirst(ctx, job, preview, found.layer);
  return undefined;
}

/** The layer of the app's setup. Returns the outcome where that failed, or is waited for: another attempt goes on. */
async function findLayer(
  ctx: Context,
  job: PreviewJob,
  preview: PreviewNow,
): Promise<{ layer: string | undefined } | Outcome> {
  if (!preview.setup) return { layer: undefined };
  const of = { ...preview, source_id: preview.latest_source_id };
  let { has_waited: isHeld } = preview;
  const found = await setupOrWait(ctx, job, of, async (tx) => {
    await holdStart(tx, preview.id);
    isHeld = true;
    return true;
  });
  if (found === 'waits') return { kind: 'left' };
  if (found.kind === 'failed') return { kind: 'failed', error: SETUP_FAILED };
  if (found.kind === 'lost') return { kind: 'failed', error: LAYERS_LOST };
  if (isHeld) await resumeStart(ctx.db, preview.id);
  return { layer: found.kind === 'ready' ? found.setupId : undefined };
}
