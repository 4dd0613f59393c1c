import type { Context } from '../context.ts';
import type { ThreadRow } from '../db/schema.ts';
import type { Job } from '../jobs/job.ts';
import type { Holder } from '../runner/await-runner.ts';
import { setupOrWait } from '../setups/index.ts';
import type { SetupFound } from '../setups/index.ts';
import { changeThread, lockThreadById } from '../threads/index.ts';
import type { ThreadChange } from '../threads/index.ts';
import { restoreWorkspace } from './restore-workspace.ts';

/** A layer may be dropped between the look and the restore. */
const TRIES = 3;

/**
 * Makes a thread's workspace from a source of it and that one's setup's layer. `waits`: the setup is under way; the
 * thread says so, and the job is put off until its end. Undefined where the thread was archived or deleted while
 * that was found out.
 */
export async function restoreWithSetup(
  ctx: Context,
  job: Holder & Pick<Job, 'putOff'>,
  thread: ThreadRow,
  sourceId = thread.latest_source_id,
): Promise<SetupFound | 'waits' | undefined> {
  for (let tries = 0; tries < TRIES; tries++) {
    const setup = await awaitSetup(ctx, job, { ...thread, source_id: sourceId });
    if (setup === undefined || setup === 'waits') return setup;
    if (await restoreWorkspace(ctx, job, thread, { sourceId, setup })) return setup;
  }
  throw new Error('layers are dropped faster than workspaces are made of them');
}

async function awaitSetup(
  ctx: Context,
  job: Pick<Job, 'fence' | 'putOff'>,
  of: Pick<ThreadRow, 'id' | 'org_id' | 'project_id' | 'source_id'>,
): Promise<SetupFound | 'waits' | undefined> {
  let isGone = false;
  const found = await setupOrWait(ctx, job, of, async (tx, setupId) => {
    const now = await lockThreadById(tx, of.id);
    // The end of its workspace comes next, and must not wait for the setup.
    isGone = !now || now.thread.archived_at !== null;
    if (!now || isGone) return false;
    await changeThread(tx, now, {
      setup_id: setupId,
      ...(now.thread.workspace_status === 'preparing' ? { workspace_setup_status: 'running' } : {}),
    });
    return true;
  });
  return isGone ? undefined : found;
}

/** What a restored workspace says of its setup. */
export const setupColumns = (setup: SetupFound): ThreadChange => ({
  setup_id: setup.kind === 'none' ? null : setup.setupId,
  workspace_setup_status: setup.kind === 'failed' || setup.kind === 'lost' ? 'failed' : 'ready',
});
