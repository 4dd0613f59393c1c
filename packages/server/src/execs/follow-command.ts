/** Follows a command at its runner to its end. */
import type { TaskEnd } from '@headrace/runner/protocol';
import type { Context } from '../context.ts';
import { clean } from '../db/clean-text.ts';
import type { ExecRow } from '../db/schema.ts';
import type { Job } from '../jobs/job.ts';
import { awaitRunner } from '../runner/await-runner.ts';
import { findTask } from '../runner/find-task.ts';
import { followTask } from '../runner/follow-task.ts';
import { passCancelOn } from '../runner/pass-cancel-on.ts';
import { logRefusal } from '../settings/index.ts';
import { isThreadLost } from '../workspaces/index.ts';
import { OutputCollector } from './collect-output.ts';

/** `left`: this worker stops, another goes on. */
export type Outcome =
  | { kind: 'ended'; end: TaskEnd; output: OutputCollector }
  | { kind: 'lost' }
  | { kind: 'left' };

const READS = 3;

/**
 * Whether the runner has the task. Throws while no runner answers: a broken connection says nothing about it. One that
 * a fleet has lost has none.
 */
export async function hasTask(
  ctx: Context,
  exec: Pick<ExecRow, 'operation_id' | 'thread_id'>,
): Promise<boolean> {
  try {
    await awaitRunner(ctx);
  } catch (error) {
    if (await isThreadLost(ctx, exec.thread_id)) return false;
    throw error;
  }
  return (await findTask(ctx, exec.operation_id)) !== null;
}

/**
 * Collects the command's output. A broken connection is not a lost sandbox: while the runner has the task,
 * its journal is read again from the start.
 */
export async function followCommand(ctx: Context, job: Job<'exec.work'>, exec: ExecRow): Promise<Outcome> {
  const { operation_id: taskId, thread_id: thread, project_id: project } = exec;
  let output = new OutputCollector();
  const cancelling = passCancelOn(ctx, taskId, thread, () => isThreadClosed(ctx, thread));
  try {
    const followed = await followTask(ctx, taskId, {
      signal: job.signal,
      onEntry(entry) {
        if (entry.type === 'output') output.add(entry.stream, clean(entry.text));
        if (entry.type === 'refused') logRefusal(ctx, entry, { project, thread, exec: taskId });
      },
      async resumeFrom(_next, breaks) {
        if (breaks === READS || !(await hasTask(ctx, exec))) return null;
        output = new OutputCollector();
        return 0;
      },
    });
    if (followed.kind === 'ended') return { ...followed, output };
    return { kind: followed.kind === 'left' ? 'left' : 'lost' };
  } finally {
    cancelling.stop();
  }
}

/** An archive or deletion of the thread ends its command. */
async function isThreadClosed(ctx: Context, threadId: string): Promise<boolean> {
  const thread = await ctx.db
    .selectFrom('threads')
    .select(['archived_at', 'deleted_at'])
    .where('id', '=', threadId)
    .executeTakeFirst();
  return Boolean(thread?.archived_at ?? thread?.deleted_at);
}
