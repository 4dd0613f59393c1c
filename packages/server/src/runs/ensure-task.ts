import { RunnerError } from '@headrace/runner/client';
import type { TurnRequest } from '@headrace/runner/protocol';
import { awaitRunner } from '../runner/await-runner.ts';
import { findTask } from '../runner/find-task.ts';
import type { StartedRun } from './claimed-run.ts';
import { beginAttempt } from './repair/repair.ts';
import { contextTar } from '../skills/index.ts';
import { turnRequest } from './turn-request.ts';

/** How often a context is sent that the runner has dropped again before the task could start. */
const SENDS = 2;

/**
 * Starts the run's task where it is not there yet. False when its runner is gone, so that nobody can say
 * whether it ran. Throws where the runner does not say whether it has the task: that is tried again.
 */
export async function ensureTask(started: StartedRun): Promise<boolean> {
  const { ctx, job, project, run, thread, rules, repair } = started;
  // The runner of an older version goes on where the current one cannot start.
  const isFormer = ctx.formerRunners.list().some(({ id }) => id === thread.runner_id);
  const runnerId = isFormer ? thread.runner_id : await awaitRunner(ctx).catch(() => null);
  if (runnerId === null) return false;
  if (await findTask(ctx, run.id)) return true;
  if (thread.runner_id !== runnerId || !(await ctx.runner.workspaceExists(thread.id))) return false;
  if (repair) await beginAttempt(ctx, job, thread, repair);
  const request = await turnRequest(ctx, project, run, rules);
  await startTurn(started, { ...request, ...(repair ? { evidence: repair.evidence } : {}) });
  return true;
}

/** The runner keeps a context for the runs after this one, until it needs the room. */
async function startTurn({ ctx, job, run }: StartedRun, request: TurnRequest): Promise<void> {
  for (let sent = 0; ; sent++) {
    try {
      await ctx.runner.startTask(run.id, request, job.claimedAt);
      return;
    } catch (error) {
      if (!(error instanceof RunnerError && error.code === 'no_context') || sent === SENDS) throw error;
      await ctx.runner.putContext(request.context!, run.project_id, contextTar(ctx, run.context!));
    }
  }
}
