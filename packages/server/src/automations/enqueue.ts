import type { ExecutionRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { enqueueMany } from '../jobs/enqueue.ts';

/** The key of an execution's jobs, which run one at a time and in order. */
export const executionKey = (id: string): string => `execution:${id}`;

/** Adds the jobs that begin executions when it is their turn, or end them with their runs. */
export const enqueueExecutions = (
  tx: Tx,
  rows: readonly Pick<ExecutionRow, 'id' | 'org_id' | 'project_id'>[],
): Promise<void> =>
  enqueueMany(
    tx,
    'automation.execute',
    rows.map((row) => ({ payload: { executionId: row.id }, key: executionKey(row.id), turnOf: row })),
  );
