/** Watches a preview's row until it is over: keeps its limits in time, and writes newer sources into it. */
import type { Context } from '../context.ts';
import type { Job } from '../jobs/job.ts';
import { bringNewer } from './bring-source.ts';
import { changeFenced } from './change-preview.ts';
import { LATE } from './outcome.ts';
import type { Outcome } from './outcome.ts';
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
  const unlisten = ctx.bus.listen('control', (id) => {
    if (id === preview.id || id === followed) {
      isWoken = true;
      wake();
    }
  });
  try {
    while (!signal.aborted) {
      isWoken = false;
      const outcome = await look(ctx, job, preview.id);
      if (outcome) return outcome;
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
async function look(ctx: Context, job: Job, previewId: string): Promise<Outcome | undefined> {
  const now = await findPreviewNow(ctx.db, previewId);
  if (!now || !isOpen(now)) return { kind: 'over' };
  if (now.is_late) return { kind: 'failed', error: LATE };
  if (now.is_expired) {
    await changeFenced(ctx, job, now, { event: 'stop' });
    return { kind: 'over' };
  }
  if (now.latest_source_id !== now.source_id)
    await bringNewer(ctx, now).catch((err: unknown) =>
      ctx.log.debug({ err, previewId }, 'a newer source was not written into a preview; it is tried again'),
    );
  return undefined;
}
