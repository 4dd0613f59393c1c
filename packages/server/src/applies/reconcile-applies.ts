import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { transaction } from '../db/transaction.ts';
import { every } from '../jobs/every.ts';
import { cancelRuns } from '../runs/index.ts';
import { changeThread } from '../threads/index.ts';
import { lockProjectAndThread } from './policy.ts';
import { wakeQueue } from './wake-queue.ts';

const EVERY_MS = 1_000;
const BATCH = 100;

/**
 * Gives a job to projects with queued applies and none: after one that failed too often, and after a repair
 * that was ended by others. Ends repairs whose time is over. Safe in every process at once.
 */
export function reconcileApplies(ctx: Context): void {
  every(EVERY_MS, () => endOverdue(ctx).then(() => enqueueMissing(ctx)), {
    until: ctx.shutdown,
    onFailure: (err) => ctx.log.debug({ err }, 'applies were not reconciled'),
  });
}

const underRepair = sql`exists (select 1 from runs r where r.apply_id = a.id and r.status in ('queued', 'running', 'waiting'))`;

/** The run ends in these rows, wherever its worker is: that notices and kills the sandbox. */
async function endOverdue(ctx: Context): Promise<void> {
  const { rows } = await sql<{
    id: string;
    project_id: string;
    thread_id: string;
  }>`select a.id, a.project_id, a.thread_id from applies a where a.status = 'queued' and a.repair_deadline <= now() and ${underRepair} limit ${BATCH}`.execute(
    ctx.db,
  );
  for (const { id, project_id: projectId, thread_id: threadId } of rows) {
    await transaction(ctx, async (tx) => {
      const loaded = await lockProjectAndThread(tx, projectId, threadId);
      if (loaded?.thread.active_apply_id !== id || !(await cancelRuns(tx, loaded, 'all')).length) return;
      await changeThread(tx, loaded, {}, 'always');
      await wakeQueue(tx, projectId);
    });
  }
}

async function enqueueMissing(ctx: Context): Promise<void> {
  const { rows } = await sql<{ project_id: string }>`
    select distinct a.project_id from applies a join projects p on p.id = a.project_id
    where a.status = 'queued' and p.deleted_at is null and not ${underRepair} and not exists (select 1 from jobs j where j.key = 'apply:' || a.project_id) limit ${BATCH}`.execute(
    ctx.db,
  );
  for (const { project_id: projectId } of rows) await transaction(ctx, (tx) => wakeQueue(tx, projectId));
}
