import { RunnerError } from '@headrace/runner/client';
import type { TurnRequest } from '@headrace/runner/protocol';
import { ApiError } from '../http/errors.ts';
import { awaitRunner, RunnerAway } from '../runner/await-runner.ts';
import { findTask } from '../runner/find-task.ts';
import { WorkspaceUnavailable } from '../runner/workspace-unavailable.ts';
import { setupLogFile } from '../setups/index.ts';
import type { StartedRun } from './claimed-run.ts';
import { beginAttempt } from './repair/repair.ts';
import { contextTar } from '../skills/index.ts';
import { turnRequest } from './turn-request.ts';

/** How often a context is sent that the runner has dropped again before the task could start. */
const SENDS = 2;

/** The runner does not get, or keep, what the agent is told. The message is for people. */
export class ContextUnavailable extends Error {}

/**
 * Starts the run's task where it is not there yet. False when its runner is gone, so that nobody can say
 * whether it ran. Throws where the runner does not say whether it has the task: that is tried again;
 * `ContextUnavailable` where it cannot start it.
 */
export async function ensureTask(started: StartedRun): Promise<boolean> {
  const { ctx, job, project, run, thread, rules, repair } = started;
  // The runner of an older version goes on where the current one cannot start.
  const isFormer = ctx.formerRunners.list().some(({ id }) => id === thread.runner_id);
  const runnerId = isFormer ? thread.runner_id : await awaitRunner(ctx).catch(nullWhereLost);
  if (runnerId === null) return false;
  if (await findTask(ctx, run.id)) return true;
  if (thread.runner_id !== runnerId || !(await ctx.runner.workspaceExists(thread.id))) return false;
  if (repair) await beginAttempt(ctx, job, thread, repair);
  const request = await turnRequest(ctx, project, run, rules);
  const evidence = [...(repair?.evidence ?? []), ...(await setupEvidence(started))];
  await startTurn(started, { ...request, ...(evidence.length > 0 ? { evidence } : {}) });
  return true;
}

/** A runner that lives, and does not answer this worker, is left to another one. */
function nullWhereLost(error: unknown): null {
  if (error instanceof RunnerAway) throw error;
  return null;
}

/** The log of the setup that failed before the workspace was made, which so has no layer. */
async function setupEvidence({ ctx, thread }: StartedRun): Promise<NonNullable<TurnRequest['evidence']>> {
  if (thread.workspace_setup_status !== 'failed' || thread.setup_id === null) return [];
  const log = await setupLogFile(ctx.db, thread.setup_id);
  return log ? [{ ...log, encoding: 'utf8' }] : [];
}

/** The runner keeps a context for the runs after this one, until it needs the room. */
async function startTurn({ ctx, job, run }: StartedRun, request: TurnRequest): Promise<void> {
  for (let sent = 0; ; sent++) {
    try {
      await ctx.runner.startTask(run.id, request, job.claimedAt);
      return;
    } catch (error) {
      if (!(error instanceof RunnerError && error.code === 'no_context')) throw error;
      if (sent === SENDS) throw new ContextUnavailable(reasonOf(error), { cause: error });
      await sendContext({ ctx, run }, request.context!).catch((cause: unknown) => {
        throw new ContextUnavailable(reasonOf(cause), { cause });
      });
    }
  }
}

/** Under way in this process, by runner and key: the threads of an app begin together where a runner is new. */
const sending = new Map<string, Promise<void>>();

function sendContext({ ctx, run }: Pick<StartedRun, 'ctx' | 'run'>, key: string): Promise<void> {
  const name = `${ctx.at?.id ?? ''} ${key}`;
  const known = sending.get(name);
  if (known) return known;
  const sent = ctx.runner
    .putContext(key, run.project_id, contextTar(ctx, run.context!))
    .finally(() => sending.delete(name));
  sending.set(name, sent);
  return sent;
}

function reasonOf(error: unknown): string {
  const { cause, message } = error as Error;
  if (cause instanceof WorkspaceUnavailable) return cause.message;
  return cause instanceof ApiError
    ? 'The skills of this run cannot be read from the storage. Retry, or ask the operator to look at it.'
    : `The sandbox does not take the instructions and skills of this run: ${message}`;
}
