import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../context.ts';
import type { Job } from '../jobs/job.ts';
import { WorkspaceUnavailable } from './workspace-unavailable.ts';

/**
 * The job that has the thread's key. A job that was taken over changes nothing any more, here or at the
 * runner.
 */
export type Holder = Pick<Job, 'claimedAt' | 'fence'>;

/** A runner that died is started again within a second or two. */
const WAIT_MS = 10_000;
const LOOK_MS = 100;

/**
 * The runner that answers now, as `<id>:<pid>`: with another pid the workspaces of the one before are gone.
 * The status of a second ago is not enough: a workspace recorded under a dead runner would count as vanished.
 * Throws WorkspaceUnavailable.
 */
export async function awaitRunner(ctx: Context): Promise<string> {
  const deadline = Date.now() + WAIT_MS;
  for (;;) {
    const live = await ctx.runner.status().catch(() => null);
    const known = ctx.runnerStatus();
    if (live && known && live.id === known.id && live.pid === known.pid) {
      if (!known.ok)
        throw new WorkspaceUnavailable(`No sandbox can be made here: ${known.missing.join('; ')}`);
      return `${known.id}:${known.pid}`;
    }
    if (ctx.shutdown.aborted || Date.now() > deadline)
      throw new WorkspaceUnavailable('No runner answers. Try again in a moment.');
    await sleep(LOOK_MS);
  }
}

/**
 * Ends the tasks that an earlier attempt left running in a workspace. The caller holds the thread's key, so
 * no other job needs them.
 */
export async function endTasks(ctx: Context, job: Holder, threadId: string): Promise<void> {
  for (const task of await ctx.runner.tasks())
    if (task.workspaceId === threadId) await ctx.runner.deleteTask(task.id, job.claimedAt);
}
