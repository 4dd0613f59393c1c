/**
 * The job behind a preview, held as long as it is open: starts its sandbox, follows its command, writes newer
 * sources into it, and removes it once the row says that it is over. A worker that takes the job over finds
 * the sandbox at the runner and follows on.
 */
import type { Context } from '../context.ts';
import { transaction } from '../db/transaction.ts';
import type { Job } from '../jobs/job.ts';
import { findTask } from '../runner/find-task.ts';
import { requireRunner } from '../runner/runner-id.ts';
import { sandboxOf } from '../settings/index.ts';
import { setupOrWait } from '../setups/index.ts';
import { bringFirst } from './bring-source.ts';
import { changeFenced, changePreview, projectOf } from './change-preview.ts';
import { followPreview } from './follow-preview.ts';
import { LATE, LAYERS_LOST, LOST, SETUP_FAILED } from './outcome.ts';
import type { Outcome } from './outcome.ts';
import { LIFE_SECONDS, START_SECONDS } from './schemas.ts';
import { isOpen } from './state.ts';
import { findPreviewNow, holdStart, resumeStart } from './store.ts';
import type { PreviewNow } from './store.ts';
import { watchPreview } from './watch-preview.ts';

export async function workPreview(ctx: Context, job: Job<'preview.work'>): Promise<void> {
  const { previewId } = job.payload;
  const preview = await findPreviewNow(ctx.db, previewId);
  if (!preview) return;
  const outcome: Outcome = isOpen(preview) ? await show(ctx, job, preview) : { kind: 'over' };
  if (outcome.kind === 'left') return;
  if (outcome.kind === 'failed')
    await changeFenced(ctx, job, preview, { event: 'fail', error: outcome.error });
  await ctx.runner.deleteTask(previewId);
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
async function show(ctx: Context, job: Job<'preview.work'>, preview: PreviewNow): Promise<Outcome> {
  if (preview.is_late) return { kind: 'failed', error: LATE };
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
async function ensureTask(
  ctx: Context,
  job: Job<'preview.work'>,
  preview: PreviewNow,
): Promise<Outcome | undefined> {
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
  job: Job<'preview.work'>,
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
