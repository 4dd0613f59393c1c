/** The part of a repair that updates from the base do; worker.ts hands it to runs. */
import type { Context } from '../../context.ts';
import type { BranchUpdate, RunRow } from '../../db/schema.ts';
import type { Db } from '../../db/database.ts';
import { transaction } from '../../db/transaction.ts';
import type { Tx } from '../../db/transaction.ts';
import { lockPullRequest } from '../../pull-requests/index.ts';
import { attemptOf, openRuns } from '../../runs/index.ts';
import type { Attempt, RepairResult, Repairs } from '../../runs/index.ts';
import { lockThreadById } from '../../threads/index.ts';
import type { LoadedThread } from '../../threads/index.ts';
import { isFollowed } from '../lock-for-step.ts';
import type { Syncing } from '../syncing.ts';
import { endUpdate, settleUpdate } from './end-update.ts';
import { outOfStep } from './end-update.ts';
import type { UpdateEnd } from './end-update.ts';

type UpdateError = NonNullable<BranchUpdate['error']>;

export const repairs: Repairs = { attempt: prepareAttempt, ended: settleRepair };

const repairedBy = (db: Db | Tx['db'], run: RunRow) =>
  db
    .selectFrom('pull_requests')
    .select(['id', 'branch_update'])
    .where('thread_id', '=', run.thread_id)
    .where('update_run_id', '=', run.id);

async function prepareAttempt(ctx: Context, run: RunRow): Promise<Attempt> {
  const { branch_update: update } = await repairedBy(ctx.db, run).executeTakeFirstOrThrow();
  return attemptOf(ctx, { projectId: run.project_id, ...update!.sides! }, []);
}

/**
 * Settles the update in the transaction that ends its repair: a candidate is the merge; without one the
 * conflicts stay.
 */
async function settleRepair(
  tx: Tx,
  thread: LoadedThread,
  run: RunRow,
  result: RepairResult | null,
): Promise<void> {
  const found = await repairedBy(tx.db, run).executeTakeFirst();
  const loaded = found && (await lockPullRequest(tx, found.id));
  const update = loaded?.row.branch_update;
  if (!loaded || update?.status !== 'running' || loaded.row.update_run_id !== run.id) return;
  const candidate = result?.candidate;
  if (!candidate)
    return endUpdate(tx, loaded, conflicted(update, result ? refusalOf(result) : await endOf(tx.db, run.id)));
  if (!isFollowed(thread.thread, loaded.row) || loaded.row.push_status === 'diverged')
    return endUpdate(tx, loaded, outOfStep(loaded.row));
  await settleUpdate(
    tx,
    { thread, loaded },
    { baseSha: update.baseSha!, parents: [update.sides!.head, update.sides!.draft], ...candidate },
  );
}

/** A repair that another operation has ended, so that nothing was settled: the conflicts stay. */
export async function settleEndedRepair(at: Syncing): Promise<void> {
  await transaction(at.ctx, async (tx) => {
    const { job, row, thread } = at;
    await job.fence(tx);
    await lockThreadById(tx, thread.id);
    const loaded = await lockPullRequest(tx, row.id);
    const update = loaded?.row.branch_update;
    const runId = loaded?.row.update_run_id;
    if (!loaded || update?.status !== 'running' || !runId || (await isOpen(tx.db, runId))) return;
    await endUpdate(tx, loaded, conflicted(update, await endOf(tx.db, runId)));
  });
}

export const conflicted = (update: BranchUpdate, error: UpdateError): UpdateEnd => ({
  status: 'conflicted',
  conflicts: update.conflicts,
  error,
});

/** What is wrong with what a repair left. */
function refusalOf({ error, report }: RepairResult): UpdateError {
  if (error === null) return { code: 'unresolved', message: report!.summary };
  const [, code, message] = /^(\w+): ([^]*)$/.exec(error) ?? [error, 'invalid_result', error];
  return { code, message };
}

/** Why a run ended without anything left. */
async function endOf(db: Tx['db'], runId: string): Promise<UpdateError> {
  const run = await db
    .selectFrom('runs')
    .select(['error_code', 'error_message'])
    .where('id', '=', runId)
    .executeTakeFirstOrThrow();
  return run.error_code === null
    ? { code: 'cancelled', message: 'The repair was stopped.' }
    : { code: run.error_code, message: run.error_message ?? '' };
}

async function isOpen(db: Tx['db'], runId: string): Promise<boolean> {
  const open = await db
    .selectFrom('runs')
    .select('id')
    .where('id', '=', runId)
    .where(openRuns)
    .executeTakeFirst();
  return open !== undefined;
}
