/**
 * The job of an execution: it begins the execution when it is its turn, and ends it with its run. Each attempt decides
 * by the state, so any number of jobs is safe. A new execution has one, the end of its run adds one (on-events.ts), the
 * end of the execution before it adds one (end-execution.ts), and a reconciler adds lost ones.
 */
import type { Context } from '../context.ts';
import type { ExecutionRow, RunRow, ThreadRow } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import { ApiError } from '../http/errors.ts';
import type { Job } from '../jobs/job.ts';
import { beginExecution, refuseExecution } from './begin-execution.ts';
import { endExecution } from './end-execution.ts';
import type { End } from './end-execution.ts';
import { openPullRequest } from './execution-pull-request.ts';
import { findExecution, lockExecution } from './execution-store.ts';

type ExecuteJob = Job<'automation.execute'>;

export async function execute(ctx: Context, job: ExecuteJob): Promise<void> {
  const row = await findExecution(ctx.db, job.payload.executionId);
  if (row?.status === 'queued') await beginExecution(ctx, job, row);
  if (row?.status === 'running') await settle(ctx, job, row);
}

async function settle(ctx: Context, job: ExecuteJob, row: ExecutionRow): Promise<void> {
  const end = await findEnd(ctx, row);
  if (end?.event === 'complete' && row.opening) return openPullRequest(ctx, job, row);
  if (!end) return;
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    const locked = await lockExecution(tx, row);
    if (locked) await endExecution(tx, locked, end);
  });
}

type Run = Pick<RunRow, 'status' | 'started_at' | 'error_code' | 'error_message'>;
type Thread = Pick<
  ThreadRow,
  'archived_at' | 'deleted_at' | 'initialization_state' | 'initialization_error_message'
>;

async function findEnd(
  ctx: Pick<Context, 'db'>,
  { thread_id: threadId, run_id: runId }: ExecutionRow,
): Promise<End | null> {
  const found = await ctx.db
    .selectFrom('runs as r')
    .innerJoin('threads as t', 't.id', 'r.thread_id')
    .select(['r.status', 'r.started_at', 'r.error_code', 'r.error_message'])
    .select(['t.archived_at', 't.deleted_at', 't.initialization_state', 't.initialization_error_message'])
    .where('r.id', '=', runId)
    .where('t.id', '=', threadId)
    .executeTakeFirst();
  return found ? endOf(found, found) : { event: 'cancel' };
}

/** How an execution ends after its own run; null: it continues. Later runs of the thread do not affect it. */
export function endOf(run: Run, thread: Thread): End | null {
  if (run.status === 'completed') return { event: 'complete' };
  if (run.status === 'cancelled') return { event: 'cancel' };
  if (run.status === 'failed') return { event: 'fail', error: errorOf(run, thread) };
  return thread.archived_at || thread.deleted_at ? { event: 'cancel' } : null;
}

function errorOf(run: Run, thread: Thread): NonNullable<End['error']> {
  return run.started_at === null && thread.initialization_state === 'failed'
    ? { code: 'initialization_failed', message: thread.initialization_error_message ?? '' }
    : { code: run.error_code ?? '', message: run.error_message ?? '' };
}

const DIED = {
  code: 'unavailable',
  message: 'The service could not continue the execution after several attempts.',
} as const;

/** How long a queued execution waits for workers or the database. */
const WAITS_MS = 3_600_000;

/**
 * The job failed too often: the execution ends, so that others get their turn. One that could not begin because a part
 * of the service is unavailable waits: a reconciler adds another job.
 */
export async function executionDied(
  ctx: Context,
  { executionId }: ExecuteJob['payload'],
  error: unknown,
): Promise<void> {
  const row = await findExecution(ctx.db, executionId);
  if (row?.status === 'queued') {
    const isAway = error instanceof ApiError && error.status === 503;
    if (isAway && Date.now() - row.created_at.getTime() < WAITS_MS) return;
    return refuseExecution(ctx, row, error instanceof ApiError ? error : DIED);
  }
  if (row?.status !== 'running') return;
  const end = await findEnd(ctx, row);
  if (!end) return;
  await transaction(ctx, async (tx) => {
    const locked = await lockExecution(tx, row);
    if (!locked) return;
    const isRefused = end.event === 'complete' && row.opening !== null;
    const failed: End = { event: 'fail', error: { code: 'pull_request_failed', message: DIED.message } };
    await endExecution(tx, locked, isRefused ? failed : end);
  });
}
