import type { Context } from '../context.ts';
import type { ThreadRow } from '../db/schema.ts';
import type { Job } from '../jobs/job.ts';
import { setupOrWait } from '../setups/index.ts';
import type { SetupFound } from '../setups/index.ts';
import { changeThread, lockThreadById } from '../threads/index.ts';
import type { ThreadChange } from '../threads/index.ts';

/**
 * The setup of what a thread's workspace is restored to. `waits`: it is under way; the thread says so, and the job
 * is put off until its end.
 */
export async function awaitSetup(
  ctx: Context,
  job: Pick<Job, 'fence' | 'putOff'>,
  thread: ThreadRow,
): Promise<SetupFound | 'waits'> {
  return setupOrWait(ctx, job, { ...thread, source_id: thread.latest_source_id }, async (tx, setupId) => {
    const now = await lockThreadById(tx, thread.id);
    if (now)
      await changeThread(tx, now, {
        setup_id: setupId,
        ...(now.thread.workspace_status === 'preparing' ? { workspace_setup_status: 'running' } : {}),
      });
  });
}

/** What a restored workspace says of its setup. */
export const setupColumns = (setup: SetupFound): ThreadChange => ({
  setup_id: setup.kind === 'none' ? null : setup.setupId,
  workspace_setup_status: setup.kind === 'failed' || setup.kind === 'lost' ? 'failed' : 'ready',
});
