import { audit, serviceOf } from '../audit/index.ts';
import type { ExecutionRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { publishExecution } from './admit.ts';
import { cancelQueued } from './cancel-queued.ts';
import { enqueueExecutions } from './enqueue.ts';
import { findNext, moveExecution, writeAutomation } from './execution-store.ts';
import type { LockedAutomation, LockedExecution } from './execution-store.ts';
import { touched } from './store.ts';

export interface End {
  event: 'complete' | 'fail' | 'refuse' | 'cancel';
  error?: { code: string; message: string } | undefined;
  pullRequestId?: string | undefined;
}

/**
 * Ends an execution of a locked automation: `automation.execution.updated`. Counts failures, which may disable the
 * automation, and gives the next waiting execution its turn. No effect if the execution has already ended.
 */
export async function endExecution(
  tx: Tx,
  { execution, ...locked }: LockedExecution,
  { event, error, pullRequestId }: End,
): Promise<void> {
  const ended = await moveExecution(tx, execution.id, event, {
    error_code: error?.code ?? null,
    error_message: error?.message ?? null,
    ...(pullRequestId === undefined ? {} : { pull_request_id: pullRequestId }),
  });
  if (!ended) return;
  publishExecution(tx, locked.scope, ended);
  await countOutcome(tx, locked, ended.status);
  const next = await findNext(tx, ended);
  if (next) await enqueueExecutions(tx, [next]);
}

async function countOutcome(tx: Tx, locked: LockedAutomation, status: ExecutionRow['status']): Promise<void> {
  const { automation } = locked;
  if (status === 'completed' && automation.consecutive_failures > 0)
    await writeAutomation(tx, automation.id, { consecutive_failures: 0 });
  if (status !== 'failed') return;
  const failures = automation.consecutive_failures + 1;
  const most = automation.disable_after_failures;
  const isEnough =
    most !== null &&
    failures >= most &&
    automation.disabled_reason === null &&
    automation.deleted_at === null;
  await writeAutomation(tx, automation.id, {
    consecutive_failures: failures,
    ...(isEnough && { disabled_reason: 'failures', next_run_at: null, updated_at: touched }),
  });
  if (!isEnough) return;
  await audit(tx, serviceOf(automation.org_id), 'automation.disabled', automation.id);
  await cancelQueued(tx, locked);
  tx.wake('schedules', automation.id);
}
