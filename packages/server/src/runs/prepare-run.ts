import { RunnerError } from '@headrace/runner/client';
import { secondsSince } from '@headrace/runner/metrics';
import { ApiError } from '../http/errors.ts';
import type { Job } from '../jobs/job.ts';
import { RunnerAway } from '../runner/await-runner.ts';
import { WorkspaceUnavailable } from '../runner/workspace-unavailable.ts';
import { HostRefused, prepareAtHost, prepareWorkspace } from '../workspaces/index.ts';
import type { ClaimedRun } from './claimed-run.ts';
import { settleRun } from './settle-run.ts';
import { goesOn } from './take-run.ts';

/**
 * How often a workspace that no sandbox can hold is tried; and one that fails otherwise (its source cannot
 * be read), before the job is given up.
 */
const WORKSPACE_ATTEMPTS = 3;
const LAST_ATTEMPTS = 7;

/**
 * Prepares the workspace of a queued run. `failed`: the run has ended; `gone`: its thread is; `waits`: its job is
 * put off; `away`: its host went.
 */
export async function prepareRun(
  claimed: ClaimedRun,
): Promise<'ready' | 'failed' | 'gone' | 'waits' | 'away'> {
  const { ctx, job, run } = claimed;
  const began = performance.now();
  try {
    const thread = ctx.host
      ? await prepareAtHost(ctx, job, run.thread_id)
      : await prepareWorkspace(ctx, job, run.thread_id, {
          reason: 'run',
          runId: run.id,
          goesOn: goesOn(run),
        });
    if (thread === 'waits') return thread;
    ctx.metrics.observe('headrace_run_phase_seconds', { phase: 'prepare' }, secondsSince(began));
    return thread ? 'ready' : 'gone';
  } catch (error) {
    if (ctx.host && error instanceof RunnerError && error.status === 503) return 'away';
    if (!(error instanceof HostRefused) && !isLastAttempt(job, error)) throw error;
    ctx.log.error({ err: error, run: run.id }, 'the workspace of a run could not be prepared');
    const message =
      error instanceof WorkspaceUnavailable || error instanceof HostRefused
        ? error.message
        : 'No workspace could be prepared. Retry, or ask the operator to look at the sandbox.';
    await settleRun(
      claimed,
      { status: 'failed', reply: null, error: { code: 'workspace_unavailable', message } },
      { leftover: 'not restored' },
    );
    return 'failed';
  }
}

/** Whether a run whose workspace failed so is not tried again. */
export const isLastAttempt = ({ failures }: Pick<Job, 'failures'>, error: unknown): boolean =>
  !(error instanceof RunnerAway) &&
  failures + 1 >= (isUnavailable(error) ? WORKSPACE_ATTEMPTS : LAST_ATTEMPTS);

/**
 * Whether no sandbox can hold the workspace. Where its source could not be read, the runner only saw the
 * archive break off; a busy one (409) still has a dead worker's last request.
 */
const isUnavailable = (error: unknown): boolean =>
  error instanceof WorkspaceUnavailable ||
  (error instanceof RunnerError && error.status !== 409 && !(error.cause instanceof ApiError));
