import type { Context } from '../context.ts';
import { rowsPrepared } from '../db/prepared.ts';
import { atRunner, isLost } from '../runner/at-runner.ts';
import { placeWork, stayAt } from '../runner/place-work.ts';

/** Statuses in which a thread's workspace is at its runner, or being made there. */
const THERE: ReadonlySet<string | null> = new Set(['preparing', 'ready', 'cleanup_pending']);

async function runnerOf(ctx: Context, threadId: string) {
  const query = ctx.db
    .selectFrom('threads')
    .select(['project_id', 'runner_id', 'workspace_status'])
    .where('id', '=', threadId);
  return (await rowsPrepared(ctx.db, 'thread_place', query))[0];
}

/**
 * The context of new work in a thread, whose key the caller holds: at the runner that has its workspace, or another
 * one of the fleet with room. The thread's place is given back with `freeAfter`.
 */
export async function placeThread(ctx: Context, threadId: string): Promise<Context | 'no room' | 'suspect'> {
  if (!ctx.fleet) return ctx;
  const thread = await runnerOf(ctx, threadId);
  if (!thread) return ctx;
  return placeWork(ctx, {
    holder: `thread:${threadId}`,
    projectId: thread.project_id,
    near: THERE.has(thread.workspace_status) ? thread.runner_id : null,
  });
}

/** The context of work that has begun in a thread: where its workspace is. */
export async function stayWithThread(ctx: Context, threadId: string): Promise<Context> {
  if (!ctx.fleet) return ctx;
  const thread = await runnerOf(ctx, threadId);
  return stayAt(ctx, `thread:${threadId}`, thread?.runner_id ?? null);
}

/** The context of the runner that has a thread's workspace. */
export async function atThread(ctx: Context, threadId: string): Promise<Context> {
  if (!ctx.fleet) return ctx;
  return atRunner(ctx, (await runnerOf(ctx, threadId))?.runner_id ?? null);
}

/** Whether a thread's workspace was at a runner that is lost: it is given up. */
export async function isThreadLost(ctx: Context, threadId: string): Promise<boolean> {
  if (!ctx.fleet) return false;
  return isLost(ctx, (await runnerOf(ctx, threadId))?.runner_id ?? null);
}
