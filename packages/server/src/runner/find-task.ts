import { RunnerError } from '@headrace/runner/client';
import type { TaskState } from '@headrace/runner/protocol';
import type { Context } from '../context.ts';

/**
 * The task as the runner knows it; null when it knows none of that id. Throws when the runner does not
 * answer.
 */
export async function findTask(ctx: Pick<Context, 'runner'>, taskId: string): Promise<TaskState | null> {
  return ctx.runner.task(taskId).catch((error: unknown) => {
    if (error instanceof RunnerError && error.status === 404) return null;
    throw error;
  });
}
