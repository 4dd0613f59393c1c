import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { transaction } from '../db/transaction.ts';
import { enqueue } from '../jobs/enqueue.ts';

const EVERY_MS = 1_000;
const BATCH = 100;

/** One job at a time works on a build. */
export const buildKey = (buildId: string) => `build:${buildId}`;

/** Gives open builds without a job one (its attempts were used up): a build ends by its own row, however often that takes. Safe in every process at once. */
export function reconcileBuilds(ctx: Context): void {
  let isBusy = false;
  const timer = setInterval(() => {
    if (isBusy) return;
    isBusy = true;
    void enqueueForgotten(ctx).catch((err: unknown) => ctx.log.debug({ err }, 'open builds were not looked after')).finally(() => { isBusy = false; });
  }, EVERY_MS);
  ctx.shutdown.addEventListener('abort', () => clearInterval(timer));
}

async function enqueueForgotten(ctx: Context): Promise<void> {
  const { rows } = await sql<{ id: string; project_id: string }>`
    select b.id, b.project_id from builds b where b.status in ('queued', 'building') and not exists (select 1 from jobs j where j.key = 'build:' || b.id) limit ${BATCH}`.execute(ctx.db);
  if (rows.length) await transaction(ctx, async (tx) => { for (const { id, project_id: fairKey } of rows) await enqueue(tx, 'build.work', { buildId: id }, { key: buildKey(id), fairKey }); });
}
