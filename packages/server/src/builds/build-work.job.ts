/**
 * The job behind a build; state.ts lists its way. After a restart a building build goes on where the runner
 * knows its task, else it fails `worker_lost`.
 *
 * A fault on the way (runner, store or database away, a sandbox whose end is not confirmed) leaves it
 * `building`, for a later attempt.
 */
import type { Context } from '../context.ts';
import { appendEvent, transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { enqueue } from '../jobs/enqueue.ts';
import type { Job } from '../jobs/job.ts';
import { scopeOf } from '../projects/index.ts';
import { passPlaceOn, PUT_OFF_SECONDS, takePlace } from '../capacity/index.ts';
import { isAway } from '../runner/is-away.ts';
import { isElsewhere } from '../runner/is-elsewhere.ts';
import { awaitRoom, freeAfter, placeWork, stayAt } from '../runner/place-work.ts';
import { runnerName } from '../runner/runner-id.ts';
import { setupOrWait } from '../setups/index.ts';
import { decideBuild, endBuild, refuseForSetup } from './end-build.ts';
import type { Outcome } from './end-build.ts';
import { buildKey } from './reconcile.ts';
import { OutputFault } from './repack-output.ts';
import { runCommand } from './run-command.ts';
import type { Run } from './run-command.ts';
import { isEnded } from './state.ts';
import { storeArtifact } from './store-artifact.ts';
import { findBuild, holdBuild, startBuild } from './store.ts';
import type { Build } from './store.ts';
import { buildEventData } from './view.ts';

type BuildJob = Job<'build.work'>;

/** Delay while there is no runner here, or while the sandbox may live at another machine's runner. */
const RETRY_SECONDS = 1;
/** After so many failed attempts on a runner that answers, the build is given up. */
const ATTEMPTS = 6;

export async function workBuilds(ctx: Context, job: BuildJob): Promise<void> {
  const build = await findBuild(ctx.db, job.payload.buildId);
  if (!build || isEnded(build)) return;
  const holder = buildKey(build.id);
  if (build.status === 'queued') {
    const at = await placeWork(ctx, { holder, projectId: build.project_id, near: null });
    if (typeof at === 'string') return waitForRoom(ctx, job, build, at);
    try {
      await begin(at, job, build);
    } finally {
      await freeAfter(ctx, job, holder);
    }
  } else if (await isElsewhere(ctx, build)) {
    await transaction(ctx, (tx) => postpone(tx, job, build, RETRY_SECONDS));
  } else {
    await carryOn(await stayAt(ctx, holder, build.runner_id), job, build, 'attach');
    await freeAfter(ctx, job, holder);
  }
}

async function begin(ctx: Context, job: BuildJob, build: Build): Promise<void> {
  const layer = await findLayer(ctx, job, build);
  const started = layer && (await start(ctx, job, build, layer));
  if (started) await carryOn(ctx, job, started, 'start');
}

async function waitForRoom(
  ctx: Context,
  job: BuildJob,
  build: Build,
  why: 'no room' | 'suspect',
): Promise<void> {
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    await holdBuild(tx, build.id);
    await awaitRoom(tx, job, why);
  });
}

/** Works on a started build until it has ended. */
async function carryOn(ctx: Context, job: BuildJob, build: Build, how: 'start' | 'attach'): Promise<void> {
  if (build.outcome === null) {
    const outcome = await findOutcome(ctx, job, build, how);
    if (!outcome) return;
    await decideBuild(ctx, job, build.id, outcome);
  }
  await ctx.runner.deleteTask(build.id);
  await endBuild(ctx, job, build);
}

/** The setup whose layer the build has. Undefined when it waits for one, or was failed with it. */
async function findLayer(
  ctx: Context,
  job: BuildJob,
  build: Build,
): Promise<{ layerOf: string | null } | undefined> {
  if (!build.setup) return { layerOf: null };
  if (!ctx.runnerStatus()?.ok) {
    await transaction(ctx, (tx) => postpone(tx, job, build, RETRY_SECONDS));
    return undefined;
  }
  const found = await setupOrWait(ctx, job, build, async () => true);
  if (found === 'waits') return undefined;
  if (found.kind === 'failed' || found.kind === 'lost') {
    await refuseForSetup(ctx, job, build, found.kind);
    return undefined;
  }
  return { layerOf: found.kind === 'ready' ? found.setupId : null };
}

/**
 * queued → building. Undefined when it was cancelled meanwhile, or has to wait: for a runner, or for a
 * place among the builds of its project and organization.
 */
async function start(
  ctx: Context,
  job: BuildJob,
  build: Build,
  { layerOf }: { layerOf: string | null },
): Promise<Build | undefined> {
  const runner = ctx.runnerStatus();
  return transaction(ctx, async (tx) => {
    await job.fence(tx);
    // Locked against the project's deletion, which a building build refuses.
    const project = await tx.db
      .selectFrom('projects')
      .selectAll()
      .where('id', '=', build.project_id)
      .forNoKeyUpdate()
      .executeTakeFirstOrThrow();
    if (!runner?.ok) {
      await postpone(tx, job, build, RETRY_SECONDS);
      return undefined;
    }
    if (!(await takePlace(tx, 'builds', { id: build.id, project }, ctx))) {
      await holdBuild(tx, build.id);
      await postpone(tx, job, build, PUT_OFF_SECONDS);
      await passPlaceOn(tx, 'builds', project);
      return undefined;
    }
    const started = await startBuild(tx, build.id, { runnerId: runnerName(ctx, runner), layerOf });
    if (started)
      appendEvent(
        tx,
        { ...scopeOf(project), threadId: build.thread_id },
        'platform.build.building',
        buildEventData(started),
      );
    return started;
  });
}

/** Enqueues the build's next job; this one ends. */
async function postpone(tx: Tx, job: BuildJob, build: Build, delaySeconds: number): Promise<void> {
  await job.fence(tx);
  await enqueue(tx, 'build.work', job.payload, {
    key: buildKey(build.id),
    turnOf: build,
    delaySeconds,
  });
}

/** Runs the command and stores its output. Undefined when this worker stops and another goes on. */
async function findOutcome(
  ctx: Context,
  job: BuildJob,
  build: Build,
  how: 'start' | 'attach',
): Promise<Outcome | undefined> {
  try {
    const run = await runCommand(ctx, job, build, how);
    if (run.kind === 'left') return undefined;
    if (run.kind === 'unknown') return lost('The sandbox of this build was lost. Submit the build again.');
    if (run.kind === 'no layer')
      return lost(
        "The runner dropped what the app's setup had made before the build began. Submit it again.",
      );
    // A store that stays away must not keep the build from being cancelled.
    if (build.cancel_requested_at !== null)
      return { status: 'failed', exitCode: null, code: 'cancelled', message: 'The build was cancelled.' };
    return outcomeOfEnd(run, build) ?? { status: 'ready', artifact: await storeArtifact(ctx, build) };
  } catch (error) {
    if (error instanceof OutputFault)
      return { status: 'failed', exitCode: 0, code: error.code, message: error.message };
    if (job.signal.aborted) return undefined;
    if (isAway(error) || job.failures + 1 < ATTEMPTS) throw error;
    ctx.log.error({ err: error, build: build.id }, 'a build was given up');
    return lost('The build could not be carried to its end here. Submit it again.');
  }
}

const lost = (message: string): Outcome => ({
  status: 'failed',
  exitCode: null,
  code: 'worker_lost',
  message,
});

/** The outcome that the command's end decides; undefined after success, when the output decides. */
function outcomeOfEnd({ end, tail }: Extract<Run, { kind: 'ended' }>, build: Build): Outcome | undefined {
  const failed = (code: 'timed_out' | 'command_failed', message: string): Outcome => ({
    status: 'failed',
    exitCode: end.exitCode,
    code,
    message: `${message}${tail.sentence()}`,
  });
  // A requested cancellation prevails in any case (end-build.ts); without one the runner itself has stopped.
  if (end.outcome === 'cancelled')
    return lost('The sandbox of this build was ended. Submit the build again.');
  if (end.timedOut)
    return failed('timed_out', `The command took longer than ${build.timeout_seconds} seconds.`);
  if (end.outcome === 'failed')
    return end.signal === null
      ? lost(end.error?.message ?? 'The sandbox could not be started.')
      : failed('command_failed', `The command was stopped: ${end.error?.message ?? end.signal}`);
  if (end.oom) return failed('command_failed', 'The command ran out of memory.');
  if (end.exitCode === null)
    return failed('command_failed', `The command was ended by ${end.signal ?? 'a signal'}.`);
  return end.exitCode === 0
    ? undefined
    : failed('command_failed', `The command exited with ${end.exitCode}.`);
}
