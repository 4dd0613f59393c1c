/** Watches a preview's row until it is over: keeps its limits in time, and has newer sources written into it. */
import type { Context } from '../context.ts';
import type { Job } from '../jobs/job.ts';
import { changeFenced } from './change-preview.ts';
import { LATE } from './outcome.ts';
import type { Outcome } from './outcome.ts';
import { NewerSources } from './newer-sources.ts';
import { pause } from './pause.ts';
import { isOpen } from './state.ts';
import { findPreviewNow } from './store.ts';
import type { PreviewNow } from './store.ts';

/** The interval without wake-ups. */
const LOOK_MS = 2_000;

export async function watchPreview(
  ctx: Context,
  job: Job,
  preview: PreviewNow,
  signal: AbortSignal,
): Promise<Outcome> {
  const followed = preview.follows_head ? preview.project_id : preview.thread_id;
  let wake = () => {};
  let isWoken = false;
  const lookAgain = (): void => {
    isWoken = true;
    wake();
  };
  const newer = new NewerSources(ctx, job, { signal, onWritten: lookAgain });
  const unlisten = ctx.bus.listen('control', (id) => {
    if (id === preview.id || id === followed) lookAgain();
  });
  try {
    while (!signal.aborted) {
      isWoken = false;
      const now = await findPreviewNow(ctx.db, preview.id);
      const outcome = await outcomeOf(ctx, job, now);
      if (outcome) return outcome;
      newer.bring(now!);
      if (!isWoken)
        await pause(LOOK_MS, signal, (done) => {
          wake = done;
        });
    }
    return { kind: 'left' };
  } finally {
    unlisten();
  }
}

/** Undefined while the preview stays open. */
async function outcomeOf(ctx: Context, job: Job, now: PreviewNow | undefined): Promise<Outcome | undefined> {
  if (!now || !isOpen(now)) return { kind: 'over' };
  if (now.is_late) return { kind: 'failed', error: LATE };
  if (ctx.at?.isDraining()) return { kind: 'moves' };
  if (!now.is_expired) return undefined;
  await changeFenced(ctx, job, now, { event: 'stop' });
  return { kind: 'over' };
}
