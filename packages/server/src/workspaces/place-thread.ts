import type { Context } from '../context.ts';
import type { Tx } from '../db/transaction.ts';
import { rowsPrepared } from '../db/prepared.ts';
import type { ExecutionTarget } from '../db/schema.ts';
import { atHost, hostDelaySeconds, hostStanding, hostWait } from '../hosts/index.ts';
import type { Job } from '../jobs/job.ts';
import { atRunner, isLost } from '../runner/at-runner.ts';
import { awaitRoom, placeWork, stayAt } from '../runner/place-work.ts';
import type { Unplaced as NoRunner } from '../runner/place-work.ts';

/** Why work in a thread begins nowhere now: no runner takes it, or its host is away, as jobs name what they wait for. */
export type Unplaced = NoRunner | ReturnType<typeof hostWait>;

/** Only a fallback: a host that comes back makes a waiting job due. */
const HOST_SECONDS = 60;

/** Statuses in which a thread's workspace is at its runner, or being made there. */
const THERE: ReadonlySet<string | null> = new Set(['preparing', 'ready', 'cleanup_pending']);

async function runnerOf(ctx: Context, threadId: string) {
  const query = ctx.db
    .selectFrom('threads')
    .select(['project_id', 'runner_id', 'workspace_status', 'execution_target'])
    .where('id', '=', threadId);
  return (await rowsPrepared(ctx.db, 'thread_place', query))[0];
}

/**
 * The context of new work in a thread, whose key the caller holds: at the runner that has its workspace, or another
 * one of the fleet with room; else why there is none, for `awaitPlace`. The thread's place is given back with `freeAfter`.
 */
export async function placeThread(ctx: Context, threadId: string): Promise<Context | Unplaced> {
  const thread = await runnerOf(ctx, threadId);
  if (thread?.execution_target) return placeAtHost(ctx, thread.execution_target);
  if (!ctx.fleet || !thread) return ctx;
  return placeWork(ctx, {
    holder: `thread:${threadId}`,
    projectId: thread.project_id,
    near: THERE.has(thread.workspace_status) ? thread.runner_id : null,
  });
}

/** Puts the job off until there is a place. Its handler returns afterwards. */
export async function awaitPlace(tx: Tx, job: Pick<Job, 'putOff'>, why: Unplaced): Promise<void> {
  if (why === 'no room' || why === 'suspect') return awaitRoom(tx, job, why);
  await job.putOff(tx, why, await hostDelaySeconds(tx, why.slice(hostWait('').length), HOST_SECONDS));
}

/** A host that was deleted answers as one that has nothing. */
async function placeAtHost(ctx: Context, target: ExecutionTarget): Promise<Context | Unplaced> {
  const { is } = await hostStanding(ctx, target.hostId);
  return is === 'away' ? hostWait(target.hostId) : atHost(ctx, target);
}

/** The context of work that has begun in a thread: where its workspace is. */
export async function stayWithThread(ctx: Context, threadId: string): Promise<Context> {
  const thread = await runnerOf(ctx, threadId);
  if (thread?.execution_target) return atHost(ctx, thread.execution_target);
  if (!ctx.fleet) return ctx;
  return stayAt(ctx, `thread:${threadId}`, thread?.runner_id ?? null);
}

/** The context of the runner that has a thread's workspace. */
export async function atThread(ctx: Context, threadId: string): Promise<Context> {
  const thread = await runnerOf(ctx, threadId);
  return thread?.execution_target
    ? atHost(ctx, thread.execution_target)
    : atRunner(ctx, thread?.runner_id ?? null);
}

/** Whether a thread's workspace was at a runner that is lost: it is given up. */
export async function isThreadLost(ctx: Context, threadId: string): Promise<boolean> {
  if (!ctx.fleet) return false;
  return isLost(ctx, (await runnerOf(ctx, threadId))?.runner_id ?? null);
}
