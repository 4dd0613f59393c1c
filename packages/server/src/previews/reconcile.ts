/**
 * What no job looks after any more: open previews without one, previews that found no room to start,
 * sandboxes of previews that are over.
 */
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { transaction } from '../db/transaction.ts';
import { enqueue } from '../jobs/enqueue.ts';
import { every } from '../jobs/every.ts';
import { changePreview } from './change-preview.ts';
import { START_SECONDS } from './schemas.ts';

const EVERY_MS = 1_000;
const BATCH = 100;
/** The job itself fails a preview after START_SECONDS; later, no job has got to it. */
const GRACE_SECONDS = 10;

/** One job at a time works on a preview. */
export const previewKey = (previewId: string) => `preview:${previewId}`;

/** Safe in every process at once. */
export function reconcilePreviews(ctx: Context): void {
  every(EVERY_MS, () => Promise.all([enqueueForgotten(ctx), failUnstarted(ctx), removeLeftOver(ctx)]), {
    until: ctx.shutdown,
    onFailure: (err) => ctx.log.debug({ err }, 'previews were not looked after'),
  });
}

async function enqueueForgotten(ctx: Context): Promise<void> {
  const { rows } = await sql<{ id: string; project_id: string }>`
    select p.id, p.project_id from previews p where p.status in ('starting', 'ready') and not exists (select 1 from jobs j where j.key = 'preview:' || p.id) limit ${BATCH}`.execute(
    ctx.db,
  );
  if (rows.length)
    await transaction(ctx, async (tx) => {
      for (const { id, project_id: fairKey } of rows)
        await enqueue(tx, 'preview.work', { previewId: id }, { key: previewKey(id), fairKey });
    });
}

async function failUnstarted(ctx: Context): Promise<void> {
  const late = await ctx.db
    .selectFrom('previews as p')
    .innerJoin('projects as j', 'j.id', 'p.project_id')
    .select(['p.id as previewId', 'j.id', 'j.org_id', 'j.kind'])
    .where('p.status', '=', 'starting')
    .where('p.created_at', '<', sql<Date>`now() - ${START_SECONDS + GRACE_SECONDS} * interval '1 second'`)
    .limit(BATCH)
    .execute();
  for (const { previewId, ...project } of late) {
    await transaction(ctx, (tx) =>
      changePreview(tx, project, previewId, 'failed', {
        code: 'start_timed_out',
        message: 'No sandbox was free for it in time. Stop other previews, or try again later.',
      }),
    );
  }
}

async function removeLeftOver(ctx: Context): Promise<void> {
  if (!ctx.runnerStatus()) return;
  const ids = (await ctx.runner.tasks()).filter((task) => task.kind === 'preview').map((task) => task.id);
  if (!ids.length) return;
  const { rows } = await sql<{ id: string }>`
    select p.id from previews p where p.id = any(${ids}) and p.status in ('failed', 'stopped') and not exists (select 1 from jobs j where j.key = 'preview:' || p.id)`.execute(
    ctx.db,
  );
  for (const { id } of rows) await ctx.runner.deleteTask(id);
}
