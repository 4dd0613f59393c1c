/**
 * Finds what no job works on any more: open previews without one, previews that found no room to start,
 * sandboxes of previews that are over.
 */
import type { Context } from '../context.ts';
import { transaction } from '../db/transaction.ts';
import { enqueue } from '../jobs/enqueue.ts';
import { every } from '../jobs/every.ts';
import type { When } from '../jobs/every.ts';
import { changePreview } from './change-preview.ts';
import { START_SECONDS } from './schemas.ts';
import type { PreviewError } from './schemas.ts';
import { findForgotten, findLeftOver, findUnstarted, resumeStarts } from './store.ts';

const EVERY_MS = 1_000;
const BATCH = 100;
/** The job itself fails a preview after START_SECONDS; one that is still starting later has had no job. */
const GRACE_SECONDS = 10;
const NO_ROOM: PreviewError = {
  code: 'start_timed_out',
  message: 'No sandbox was free for it in time. Stop other previews, or try again later.',
};

/** One job at a time works on a preview. */
export const previewKey = (previewId: string) => `preview:${previewId}`;

/** Safe in every process at once; `when`: for the rows, of which one process is enough. */
export function reconcilePreviews(ctx: Context, when: When): void {
  const options = {
    until: ctx.shutdown,
    onFailure: (err: unknown) => ctx.log.debug({ err }, 'previews were not looked after'),
  };
  every(EVERY_MS, () => Promise.all([enqueueForgotten(ctx), failUnstarted(ctx)]), { ...options, when });
  every(EVERY_MS, () => removeLeftOver(ctx), options);
}

async function enqueueForgotten(ctx: Context): Promise<void> {
  const forgotten = await findForgotten(ctx.db, BATCH);
  if (forgotten.length)
    await transaction(ctx, async (tx) => {
      for (const preview of forgotten)
        await enqueue(
          tx,
          'preview.work',
          { previewId: preview.id },
          { key: previewKey(preview.id), turnOf: preview },
        );
    });
}

async function failUnstarted(ctx: Context): Promise<void> {
  await resumeStarts(ctx.db);
  const late = await findUnstarted(ctx.db, START_SECONDS + GRACE_SECONDS, BATCH);
  for (const { previewId, project } of late)
    await transaction(ctx, (tx) => changePreview(tx, project, previewId, { event: 'fail', error: NO_ROOM }));
}

async function removeLeftOver(ctx: Context): Promise<void> {
  if (!ctx.runnerStatus()) return;
  const ids = (await ctx.runner.tasks()).filter((task) => task.kind === 'preview').map((task) => task.id);
  if (!ids.length) return;
  for (const id of await findLeftOver(ctx.db, ids)) await ctx.runner.deleteTask(id);
}
