import { sql } from 'kysely';
import type { Context } from '../../context.ts';
import { transaction } from '../../db/transaction.ts';
import { every } from '../../jobs/every.ts';
import type { When } from '../../jobs/every.ts';
import { lockPullRequest } from '../../pull-requests/index.ts';
import { cancelRuns, openRuns } from '../../runs/index.ts';
import { changeThread, lockThreadById } from '../../threads/index.ts';
import { endUpdate } from './end-update.ts';
import { conflicted } from './repairs.ts';

const EVERY_MS = 1_000;
const BATCH = 100;

/** Ends repairs of updates whose time is over. Safe in every process at once. */
export function reconcileUpdates(ctx: Context, when: When): void {
  every(EVERY_MS, () => endOverdue(ctx), {
    when,
    until: ctx.shutdown,
    onFailure: (err) => ctx.log.debug({ err }, 'repairs of pull requests could not be read'),
  });
}

/** The run ends in its row, wherever its worker is: that worker notices and kills the sandbox. */
async function endOverdue(ctx: Context): Promise<void> {
  const overdue = await ctx.db
    .selectFrom('pull_requests as p')
    .innerJoin('runs', 'runs.id', 'p.update_run_id')
    .select(['p.id', 'p.thread_id', 'runs.id as run_id'])
    .where(sql<boolean>`p.branch_update->>'status' = 'running'`)
    .where(openRuns)
    .where(
      'runs.created_at',
      '<=',
      sql<Date>`now() - ${ctx.config.repairBudgetSeconds} * interval '1 second'`,
    )
    .limit(BATCH)
    .execute();
  for (const { id, thread_id: threadId, run_id: runId } of overdue)
    await transaction(ctx, async (tx) => {
      const thread = await lockThreadById(tx, threadId);
      const loaded = await lockPullRequest(tx, id);
      const update = loaded?.row.branch_update;
      if (!thread || update?.status !== 'running' || loaded?.row.update_run_id !== runId) return;
      if (!(await cancelRuns(tx, thread, { runId })).length) return;
      await changeThread(tx, thread, {}, 'always');
      await endUpdate(tx, loaded, conflicted(update, OVER));
    });
}

const OVER = { code: 'budget', message: 'The time for repairs is used up.' };
