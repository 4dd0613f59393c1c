import type { PullRequestRow, ReviewPassRow, RunRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import type { PassOutcome } from '../pull-requests/index.ts';

/** Errors of runs that are lost through no fault of their own. Such runs are retried. */
const LOST: readonly string[] = [
  'sandbox_lost',
  'worker_lost',
  'host_lost',
  'workspace_unavailable',
  'model_error',
];

export interface PassEnd {
  outcome: PassOutcome;
  /** Its newest run; null for an update without a repair so far. */
  runId: string | null;
  /** When that run ended. */
  endedAt: Date | null;
}

/** The outcome of a pass, from its run or from its update from the base. */
export async function passOutcome(tx: Tx, row: PullRequestRow, pass: ReviewPassRow): Promise<PassEnd> {
  if (pass.kind === 'update') {
    const repair = await repairOf(tx, row, pass);
    return {
      outcome: updateOutcome(row, pass),
      runId: repair?.id ?? null,
      endedAt: repair?.finished_at ?? null,
    };
  }
  const run = await tx.db
    .selectFrom('runs as r')
    .leftJoin('sources as base', 'base.id', 'r.base_source_id')
    .leftJoin('sources as result', 'result.id', 'r.result_source_id')
    .select(['r.status', 'r.error_code', 'r.error_message', 'r.finished_at'])
    .select(['base.sha256 as base_sha256', 'result.sha256 as result_sha256'])
    .where('r.id', '=', pass.run_id)
    .executeTakeFirstOrThrow();
  return { outcome: runOutcome(run, pass), runId: pass.run_id, endedAt: run.finished_at };
}

/** The run that repairs the conflicts of an update. */
const repairOf = (tx: Tx, { thread_id: threadId }: PullRequestRow, { created_at: since }: ReviewPassRow) =>
  tx.db
    .selectFrom('runs')
    .select(['id', 'finished_at'])
    .where('thread_id', '=', threadId)
    .where('kind', '=', 'repair')
    .where('created_at', '>=', since)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();

function updateOutcome({ branch_update: update, ...row }: PullRequestRow, pass: ReviewPassRow): PassOutcome {
  if (update?.status === 'running') return { is: 'running' };
  if (update?.status === 'done')
    return { is: row.merge_parent_sha !== null || row.head_sha !== pass.head_sha ? 'changed' : 'unchanged' };
  return { is: update?.error?.code === 'cancelled' ? 'stopped' : 'conflicted' };
}

interface EndingRun extends Pick<RunRow, 'status' | 'error_code' | 'error_message'> {
  base_sha256: string | null;
  result_sha256: string | null;
}

function runOutcome(run: EndingRun, { retry_at: retryAt }: ReviewPassRow): PassOutcome {
  switch (run.status) {
    case 'completed':
      return { is: run.base_sha256 === run.result_sha256 ? 'unchanged' : 'changed' };
    case 'cancelled':
      return { is: 'stopped' };
    case 'failed': {
      const code = run.error_code!;
      return LOST.includes(code)
        ? { is: 'lost', code, message: run.error_message ?? '', retryAt }
        : { is: 'failed', code };
    }
    default:
      return { is: 'running' };
  }
}
