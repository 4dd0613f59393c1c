import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { transaction } from '../db/transaction.ts';
import { enqueue } from '../jobs/enqueue.ts';
import { every } from '../jobs/every.ts';

const EVERY_MS = 1_000;
const BATCH = 100;

/** One job at a time works on a build. */
export const buildKey = (buildId: string) => `build:${buildId}`;

/**
 * Gives open builds without a job one (its attempts were used up): a build ends by its own row, however
 * often that takes. Removes what a runner still has of ended ones: a start whose answer came too late. Safe
 * in every process at once.
 */
export function reconcileBuilds(ctx: Context): void {
  every(EVERY_MS, () => Promise.all([enqueueForgotten(ctx), removeLeftOver(ctx)]), {
    until: ctx.shutdown,
    onFailure: (err) => ctx.log.debug({ err }, 'open builds were not looked after'),
  });
}

async function enqueueForgotten(ctx: Context): Promise<void> {
  const { rows } = await sql<{ id: string; project_id: string }>`
    select b.id, b.project_id from builds b where b.status in ('queued', 'building') and not exists (select 1 from jobs j where j.key = 'build:' || b.id) limit ${BATCH}`.execute(
    ctx.db,
  );
  if (rows.length)
    await transaction(ctx, async (tx) => {
      for (const { id, project_id: fairKey } of rows)
        await enqueue(tx, 'build.work', { buildId: id }, { key: buildKey(id), fairKey });
    });
}

async function removeLeftOver(ctx: Context): Promise<void> {
  if (!ctx.runnerStatus()) return;
  const ids = (await ctx.runner.tasks()).filter((task) => task.kind === 'build').map((task) => task.id);
  if (!ids.length) return;
  const ended = await ctx.db
    .selectFrom('builds')
    .select('id')
    .where('id', 'in', ids)
    .where('status', 'in', ['ready', 'failed'])
    .execute();
  for (const { id } of ended) await ctx.runner.deleteTask(id);
}
