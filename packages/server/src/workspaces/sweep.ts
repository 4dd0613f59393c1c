import { sql } from 'kysely';
import { databaseNow } from '../clock.ts';
import type { Context } from '../context.ts';
import { transaction } from '../db/transaction.ts';
import { enqueueUnlessWaiting } from '../jobs/enqueue.ts';
import { every } from '../jobs/every.ts';
import { lockThreadById } from '../threads/index.ts';
import { vanishWorkspace } from './change-workspace.ts';
import { forgetsProjects } from './forget-projects.ts';
import { runnerIdOf } from '../runner/runner-id.ts';

const EVERY_MS = 1_000;
const BATCH = 100;

/**
 * Finds workspaces whose idle time is over, and those that vanished with their runner. Safe in every
 * process at once.
 */
export function sweepWorkspaces(ctx: Context): void {
  const forgetProjects = forgetsProjects(ctx);
  every(EVERY_MS, () => Promise.all([sweepIdle(ctx), sweepVanished(ctx), forgetProjects()]), {
    until: ctx.shutdown,
    onFailure: (err) => ctx.log.debug({ err }, 'workspaces were not swept'),
  });
}

/**
 * Beyond their deadline, of an archived thread, or their end not confirmed: where a try failed, when its
 * distance is over.
 */
export async function sweepIdle(ctx: Context): Promise<void> {
  const now = databaseNow(ctx);
  const due = await sql<{ id: string }>`
    select t.id from threads t
    where t.workspace_status in ('ready', 'cleanup_pending') and t.deleted_at is null and (t.workspace_status = 'cleanup_pending' or t.archived_at is not null or t.idle_expires_at <= ${now})
      and (t.workspace_retry_at is null or t.workspace_retry_at <= ${now})
      and t.active_exec_id is null and t.active_apply_id is null and t.active_build_id is null
      and not exists (select 1 from runs r where r.thread_id = t.id and r.status in ('queued', 'running', 'waiting'))
      and not exists (select 1 from jobs j where j.key = 'thread:' || t.id)
    order by t.idle_expires_at limit ${BATCH}`.execute(ctx.db);
  for (const { id } of due.rows)
    await transaction(ctx, (tx) =>
      enqueueUnlessWaiting(tx, 'workspace.archive', { threadId: id }, `thread:${id}`),
    );
}

/** ready → error: the runner that held it is another one now. An active run settles this by itself. */
async function sweepVanished(ctx: Context): Promise<void> {
  const known = runnerIdOf(ctx);
  if (!known) return;
  const gone = await sql<{ id: string }>`
    select t.id from threads t
    where t.workspace_status = 'ready' and t.deleted_at is null and t.runner_id <> ${known} and split_part(t.runner_id, ':', 1) = split_part(${known}, ':', 1)
      and not exists (select 1 from jobs j where j.key = 'thread:' || t.id)
    limit ${BATCH}`.execute(ctx.db);
  if (!gone.rows.length) return;
  // What it said a second ago is not enough: others may have made workspaces at the one after it.
  const live = await ctx.runner.status();
  const runnerId = `${live.id}:${live.pid}`;
  for (const { id } of gone.rows) {
    await transaction(ctx, async (tx) => {
      const now = await lockThreadById(tx, id);
      if (now?.thread.workspace_status === 'ready' && now.thread.runner_id !== runnerId)
        await vanishWorkspace(tx, now);
    });
  }
}
