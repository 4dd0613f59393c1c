import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { transaction } from '../db/transaction.ts';
import { enqueue } from '../jobs/enqueue.ts';
import { applyKey } from './create-apply.ts';

const EVERY_MS = 2_000;
const BATCH = 100;

/** Gives a job to projects with queued applies and none: after one that failed too often. Safe in every process at once. */
export function reconcileApplies(ctx: Context): void {
  let isBusy = false;
  const timer = setInterval(() => {
    if (isBusy) return;
    isBusy = true;
    void enqueueMissing(ctx).catch((err: unknown) => ctx.log.debug({ err }, 'applies were not reconciled')).finally(() => { isBusy = false; });
  }, EVERY_MS);
  ctx.shutdown.addEventListener('abort', () => clearInterval(timer));
}

async function enqueueMissing(ctx: Context): Promise<void> {
  const { rows } = await sql<{ project_id: string }>`
    select distinct a.project_id from applies a join projects p on p.id = a.project_id
    where a.status = 'queued' and p.deleted_at is null and not exists (select 1 from jobs j where j.key = 'apply:' || a.project_id) limit ${BATCH}`.execute(ctx.db);
  for (const { project_id: projectId } of rows) await transaction(ctx, (tx) => enqueue(tx, 'apply.merge', { projectId }, { key: applyKey(projectId) }));
}
