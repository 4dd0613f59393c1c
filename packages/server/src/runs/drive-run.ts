import { secondsSince } from '@headrace/runner/metrics';
import { transaction } from '../db/transaction.ts';
import { isLost } from '../runner/at-runner.ts';
import { effectiveSettings } from '../settings/index.ts';
import { lockThreadById } from '../threads/index.ts';
import type { ClaimedRun, LostCode, StartedRun } from './claimed-run.ts';
import { ContextUnavailable, ensureTask } from './ensure-task.ts';
import { judgeEnd } from './model-failure.ts';
import { isLastAttempt } from './prepare-run.ts';
import { ensureTurn } from './at-host.ts';
import { endAttempt } from './repair/repair.ts';
import type { RunEnd } from './finish-run.ts';
import { settleFailure, settleWithoutRunner } from './settle-failure.ts';
import { settleRepair } from './settle-repair.ts';
import { settleTurn } from './settle-turn.ts';
import { driveTurn, NOT_STARTED, STOPPED } from './turn.ts';
import type { TurnEnd } from './turn.ts';

/**
 * Drives an active run to its end. False when that is left to another worker. `fresh`: what its start has
 * just read; an end that its thread came to since then is seen by the turn.
 */
export async function driveRun(claimed: ClaimedRun, lostCode: LostCode, fresh?: Loaded): Promise<boolean> {
  const started = await load(claimed, fresh);
  if (!started) return false;
  const { metrics } = claimed.ctx;
  const began = performance.now();
  const turn = await begin(started);
  if (turn.kind === 'left') return false;
  metrics.observe('headrace_run_phase_seconds', { phase: 'turn' }, secondsSince(began));
  const ended = performance.now();
  await settleEnd(started, turn, lostCode);
  metrics.observe('headrace_run_phase_seconds', { phase: 'settle' }, secondsSince(ended));
  await cleanUp(started);
  return true;
}

/** A task that its context keeps from starting, for good, ends as one that failed. */
async function begin(started: StartedRun): Promise<TurnEnd> {
  const { ctx, job, run } = started;
  if (ctx.host) return beginAtHost(started);
  try {
    return (await ensureTask(started)) ? await driveTurn(started) : { kind: 'lost', text: '' };
  } catch (error) {
    if (!(error instanceof ContextUnavailable)) throw error;
    if (await isToStop(started)) return { kind: 'ended', end: STOPPED, text: '' };
    if (!isLastAttempt(job, error.cause)) throw error;
    ctx.log.error({ err: error, run: run.id }, 'a run could not be given its instructions and skills');
    const { message } = error;
    return {
      kind: 'ended',
      end: { ...NOT_STARTED, error: { code: 'workspace_unavailable', message } },
      text: '',
    };
  }
}

async function beginAtHost(started: StartedRun): Promise<TurnEnd> {
  const found = await ensureTurn(started);
  if (found === 'here') return driveTurn(started);
  return found === 'stopped' ? { kind: 'ended', end: STOPPED, text: '' } : { kind: found, text: '' };
}

async function isToStop({ ctx, run }: StartedRun): Promise<boolean> {
  const now = await ctx.db
    .selectFrom('runs')
    .select('cancel_requested_at')
    .where('id', '=', run.id)
    .executeTakeFirst();
  return now?.cancel_requested_at != null;
}

const SANDBOX_LOST = 'The sandbox of this run was lost. Retry the run.';
const LOST: Record<LostCode, string> = {
  sandbox_lost: SANDBOX_LOST,
  worker_lost: SANDBOX_LOST,
  host_lost: 'The host of this run was lost, or its program ended. Retry the run.',
};

type Loaded = Pick<StartedRun, 'thread' | 'project' | 'rules'>;

/** Undefined when the thread was deleted. */
async function load(claimed: ClaimedRun, fresh?: Loaded): Promise<StartedRun | undefined> {
  const { ctx, repairs, run } = claimed;
  const loaded = fresh ?? (await read(claimed));
  if (!loaded) return undefined;
  const repair = run.kind === 'repair' ? await repairs.attempt(ctx, run) : null;
  return { ...claimed, ...loaded, repair, isResumed: fresh === undefined, refusals: [] };
}

async function read({ ctx, run }: ClaimedRun): Promise<Loaded | undefined> {
  const loaded = await transaction(ctx, (tx) => lockThreadById(tx, run.thread_id));
  return loaded && { ...loaded, rules: (await effectiveSettings(ctx.db, run)).approvals };
}

async function settleEnd(
  started: StartedRun,
  turn: Exclude<TurnEnd, { kind: 'left' }>,
  lostCode: LostCode,
): Promise<void> {
  const { ctx, run, repair } = started;
  if (turn.kind === 'gone') return;
  const end = turn.kind === 'ended' ? await judgeEnd(ctx, run, turn.end) : null;
  const { text } = turn;
  if (repair) await settleRepair({ ...started, repair }, { end: end ?? lostCode, text });
  else if (end) await settleTurn(started, end, text);
  else {
    const failed: RunEnd = {
      status: 'failed',
      reply: text || '[interrupted]',
      error: { code: lostCode, message: LOST[lostCode] },
    };
    if (await isLost(ctx, started.thread.runner_id)) await settleWithoutRunner(started, failed);
    else await settleFailure(started, failed);
  }
}

/** Only after the end is recorded: until then a worker after this one has to find the task. */
async function cleanUp({ ctx, job, run, thread, repair }: StartedRun): Promise<void> {
  await ctx.runner
    .deleteTask(run.id, job.claimedAt)
    .catch((err: unknown) =>
      ctx.log.debug({ err, run: run.id }, 'a task was not removed; the runner forgets it'),
    );
  if (!repair) return;
  // Where this fails, the next use of the workspace does it.
  await endAttempt(ctx, job, thread, repair).catch((err: unknown) =>
    ctx.log.warn({ err, run: run.id }, 'a workspace could not be put back yet'),
  );
}
