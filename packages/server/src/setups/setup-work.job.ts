/**
 * The job behind a setup; state.ts lists its way. After a restart a running setup goes on where the runner
 * knows its task, else it fails `sandbox_lost`.
 *
 * A fault on the way (runner, store or database away) leaves it `running`, for a later attempt.
 */
import { LAYER_TIMEOUT_MS } from '@headrace/runner/protocol';
import { passPlaceOn, PUT_OFF_SECONDS, takePlace } from '../capacity/index.ts';
import type { Context } from '../context.ts';
import type { SetupRow } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { enqueue } from '../jobs/enqueue.ts';
import type { Job } from '../jobs/job.ts';
import { isAway } from '../runner/is-away.ts';
import { isElsewhere } from '../runner/is-elsewhere.ts';
import { awaitRoom, freeAfter, placeWork, stayAt } from '../runner/place-work.ts';
import { runnerName } from '../runner/runner-id.ts';
import { endSetup } from './end-setup.ts';
import type { Outcome } from './end-setup.ts';
import { setupKey } from './need-setup.ts';
import { runSetup } from './run-setup.ts';
import type { Run } from './run-setup.ts';
import type { SetupError } from './schemas.ts';
import { isEnded } from './state.ts';
import { findSetup, holdSetup, startSetup } from './store.ts';

type SetupJob = Job<'setup.work'>;

/** Delay while there is no runner here, or while the sandbox may live at another machine's runner. */
const RETRY_SECONDS = 1;
/** After so many failed attempts on a runner that answers, the setup is given up. */
const ATTEMPTS = 6;

export async function workSetup(ctx: Context, job: SetupJob): Promise<void> {
  const setup = await findSetup(ctx.db, job.payload.setupId);
  if (!setup || isEnded(setup)) return;
  const holder = setupKey(setup.id);
  if (setup.status === 'queued') {
    const at = await placeWork(ctx, { holder, projectId: setup.project_id, near: setup.runner_id });
    if (typeof at === 'string') return waitForRoom(ctx, job, setup, at);
    try {
      const started = await start(at, job, setup);
      if (started) await carryOn(at, job, started, 'start');
    } finally {
      await freeAfter(ctx, job, holder);
    }
  } else if (
    await isElsewhere(ctx, { ...setup, timeout_seconds: setup.timeout_seconds + LAYER_TIMEOUT_MS / 1000 })
  ) {
    await transaction(ctx, (tx) => postpone(tx, job, setup, RETRY_SECONDS));
  } else {
    await carryOn(await stayAt(ctx, holder, setup.runner_id), job, setup, 'attach');
    await freeAfter(ctx, job, holder);
  }
}

async function waitForRoom(
  ctx: Context,
  job: SetupJob,
  setup: SetupRow,
  why: 'no room' | 'suspect',
): Promise<void> {
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    await holdSetup(tx, setup.id);
    await awaitRoom(tx, job, why);
  });
}

/** Works on a started setup until it has ended. The layer stays when its task is removed. */
async function carryOn(ctx: Context, job: SetupJob, setup: SetupRow, how: 'start' | 'attach'): Promise<void> {
  const outcome = await findOutcome(ctx, job, setup, how);
  if (!outcome) return;
  await endSetup(ctx, job, setup, outcome);
  await ctx.runner
    .deleteTask(setup.id)
    .catch((err: unknown) =>
      ctx.log.debug({ err, setup: setup.id }, 'a setup was not removed; the reconciler does it'),
    );
}

/** queued → running. Undefined when its app was deleted meanwhile, or it has to wait: for a runner, or for a place. */
async function start(ctx: Context, job: SetupJob, setup: SetupRow): Promise<SetupRow | undefined> {
  const runner = ctx.runnerStatus();
  return transaction(ctx, async (tx) => {
    await job.fence(tx);
    if (!runner?.ok) {
      await postpone(tx, job, setup, RETRY_SECONDS);
      return undefined;
    }
    const project = { id: setup.project_id, org_id: setup.org_id };
    if (!(await takePlace(tx, 'builds', { id: setup.id, project }, ctx))) {
      await holdSetup(tx, setup.id);
      await postpone(tx, job, setup, PUT_OFF_SECONDS);
      await passPlaceOn(tx, 'builds', project);
      return undefined;
    }
    return startSetup(tx, setup.id, runnerName(ctx, runner));
  });
}

/** Enqueues the setup's next job; this one ends. */
async function postpone(tx: Tx, job: SetupJob, setup: SetupRow, delaySeconds: number): Promise<void> {
  await job.fence(tx);
  await enqueue(tx, 'setup.work', job.payload, { key: setupKey(setup.id), turnOf: setup, delaySeconds });
}

/** Runs the command. Undefined when this worker stops and another goes on. */
async function findOutcome(
  ctx: Context,
  job: SetupJob,
  setup: SetupRow,
  how: 'start' | 'attach',
): Promise<Outcome | undefined> {
  try {
    const run = await runSetup(ctx, job, setup, how);
    if (run.kind === 'left') return undefined;
    return run.kind === 'unknown' ? lost('The sandbox of this setup was lost.') : outcomeOfEnd(run, setup);
  } catch (error) {
    if (job.signal.aborted) return undefined;
    if (isAway(error) || job.failures + 1 < ATTEMPTS) throw error;
    ctx.log.error({ err: error, setup: setup.id }, 'a setup was given up');
    return lost('The setup could not be carried to its end here.');
  }
}

const lost = (message: string): Outcome => failed('sandbox_lost', null, message);

const failed = (code: SetupError['code'], exitCode: number | null, message: string): Outcome => ({
  status: 'failed',
  exitCode,
  error: { code, message },
});

function outcomeOfEnd(
  { end, tail }: Extract<Run, { kind: 'ended' }>,
  setup: Pick<SetupRow, 'timeout_seconds'>,
): Outcome {
  const ended = (code: SetupError['code'], message: string) =>
    failed(code, end.exitCode, `${message}${tail.sentence()}`);
  if (end.layer) return { status: 'ready', byteSize: end.layer.byteSize };
  if (end.error?.code === 'layer_too_large')
    return failed('layer_too_large', end.exitCode, end.error.message);
  if (end.outcome === 'cancelled') return lost('The sandbox of this setup was ended.');
  if (end.timedOut)
    return ended('timed_out', `The command took longer than ${setup.timeout_seconds} seconds.`);
  if (end.oom) return ended('command_failed', 'The command ran out of memory.');
  if (end.exitCode !== null && end.exitCode !== 0)
    return ended('command_failed', `The command exited with ${end.exitCode}.`);
  if (end.exitCode === null && end.signal !== null)
    return ended('command_failed', `The command was ended by ${end.signal}.`);
  return lost(end.error?.message ?? 'No layer could be made of what the command left.');
}
