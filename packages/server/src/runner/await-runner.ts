import { setTimeout as sleep } from 'node:timers/promises';
import { RunnerError } from '@headrace/runner/client';
import type { RunnerStatus } from '@headrace/runner/protocol';
import type { Context } from '../context.ts';
import { within } from '../deadline.ts';
import type { Job } from '../jobs/job.ts';
import type { AtRunner, Fleet } from './fleet.ts';
import { runnerName } from './runner-id.ts';
import { WorkspaceUnavailable } from './workspace-unavailable.ts';

/**
 * The job that has the thread's key. A job that was taken over changes nothing any more, here or at the
 * runner.
 */
export type Holder = Pick<Job, 'claimedAt' | 'fence'>;

/** A runner that died is started again within a second or two. */
const WAIT_MS = 10_000;
const LOOK_MS = 100;

/** A runner that reports and does not answer here is left to another worker after so long. */
const CUT_OFF_MS = 5_000;
const ANSWER_MS = 3_000;
const FLEET_LOOK_MS = 300;

/** The runner does not answer this process, and counts as living: another worker may reach it. */
export class RunnerAway extends RunnerError {
  /** See jobs/attempt-job.ts. */
  readonly isForOthers = true;

  constructor() {
    super(503, 'unavailable', 'The runner does not answer this worker.');
  }
}

/**
 * The runner that answers now, by the name that rows have for it: `<id>:<pid>`, as with another pid the workspaces of
 * the one before are gone, or in a fleet its boot id. The status of a second ago is not enough: a workspace recorded
 * under a dead runner would count as vanished. Throws WorkspaceUnavailable; in a fleet RunnerAway while the runner
 * is not lost.
 */
export async function awaitRunner(ctx: Context): Promise<string> {
  if (ctx.fleet) return awaitInFleet(ctx, ctx.fleet, ctx.at);
  const deadline = Date.now() + WAIT_MS;
  for (;;) {
    const live = await ctx.runner.status().catch(() => null);
    const known = ctx.runnerStatus();
    if (live && known && live.id === known.id && live.pid === known.pid) {
      requireOk(known);
      return runnerName(ctx, known);
    }
    if (ctx.shutdown.aborted || Date.now() > deadline)
      throw new WorkspaceUnavailable('No runner answers. Try again in a moment.');
    await sleep(LOOK_MS);
  }
}

function requireOk({ ok, missing }: RunnerStatus): void {
  if (!ok) throw new WorkspaceUnavailable(`No sandbox can be made here: ${missing.join('; ')}`);
}

async function awaitInFleet(ctx: Context, fleet: Fleet, at: AtRunner | null): Promise<string> {
  if (!at) throw new WorkspaceUnavailable('The work is at no runner.');
  const since = performance.now();
  for (;;) {
    const live = await within(ANSWER_MS, at.client.status()).catch(() => null);
    // Another one at its address has been started since.
    if (live && live.id !== at.id) throw new WorkspaceUnavailable('The runner is lost.');
    if (live) {
      requireOk(live);
      return at.id;
    }
    const state = (await fleet.findNow(at.id)).state();
    if (state === 'lost' || state === 'gone') throw new WorkspaceUnavailable('The runner is lost.');
    // One that does not report either is judged soon.
    const isReporting = state === 'ready';
    if (ctx.shutdown.aborted || (isReporting && performance.now() - since > CUT_OFF_MS))
      throw new RunnerAway();
    await sleep(FLEET_LOOK_MS);
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
