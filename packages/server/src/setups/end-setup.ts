import { passPlaceOn } from '../capacity/index.ts';
import type { Context } from '../context.ts';
import type { SetupRow } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import type { Job } from '../jobs/job.ts';
import { wakeWaiting } from '../jobs/store.ts';
import type { SetupError } from './schemas.ts';
import { findUnderWay, finishSetup } from './store.ts';

export type Outcome =
  | { status: 'ready'; byteSize: number }
  | { status: 'failed'; exitCode: number | null; error: SetupError };

/** Ends a running setup, and makes due what waits for it. */
export async function endSetup(ctx: Context, job: Job, setup: SetupRow, outcome: Outcome): Promise<void> {
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    const ended =
      outcome.status === 'ready'
        ? await finishSetup(tx, setup.id, 'succeed', { exit_code: 0, byte_size: outcome.byteSize })
        : await finishSetup(tx, setup.id, 'fail', {
            exit_code: outcome.exitCode,
            error_code: outcome.error.code,
            error_message: outcome.error.message,
          });
    if (!ended) return;
    await tell(tx, setup.id);
    await passPlaceOn(tx, 'builds', { id: setup.project_id, org_id: setup.org_id });
  });
}

/** Ends the setups of a locked project that is being deleted. Their sandboxes are removed afterwards. */
export async function endSetupsOf(tx: Tx, projectId: string): Promise<void> {
  for (const { id, status } of await findUnderWay(tx, projectId)) {
    await finishSetup(tx, id, status === 'queued' ? 'drop' : 'fail', {
      error_code: 'sandbox_lost' satisfies SetupError['code'],
      error_message: 'Its app was deleted.',
    });
    await tell(tx, id);
    tx.wake('control', id);
  }
}

async function tell(tx: Tx, setupId: string): Promise<void> {
  tx.wake('resources', setupId);
  await wakeWaiting(tx, setupId);
}
