/**
 * The job behind a thread's runs: takes the active run (a worker before this one died) or the oldest queued
 * one, until none is left. It holds the thread's key, so the workspace is its alone.
 *
 *   queued --workspace ready--> running --turn ended, source stored--> completed
 *                               running --script failed, agent error, sandbox lost--> failed     (what had changed: a `recovery` source)
 *                               running --stop--> cancelled                                      (likewise)
 *   a stop that was accepted before the end goes before it
 *   running, waiting after a restart: goes on where its sandbox lives, else failed `worker_lost`
 */
import { RunnerError } from '@headrace/runner/client';
import type { Context } from '../context.ts';
import type { ProjectRow, RunRow, ThreadRow } from '../db/schema.ts';
import { appendEvent, transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { enqueue } from '../jobs/enqueue.ts';
import type { Job } from '../jobs/job.ts';
import { ApiError } from '../http/errors.ts';
import { scopeOf } from '../projects/index.ts';
import { effectiveSettings } from '../settings/index.ts';
import { hasPlace, passPlaceOn, PUT_OFF_SECONDS, takePlace } from '../capacity/index.ts';
import { abandon, loadTree } from '../sources/index.ts';
import type { Staged } from '../sources/index.ts';
import { changeThread, lockThreadById } from '../threads/index.ts';
import type { LoadedThread } from '../threads/index.ts';
import {
  captureWorkspace,
  changeWorkspace,
  freshDeadline,
  giveUpRestore,
  prepareWorkspace,
  resetWorkspace,
  stageCapture,
  WorkspaceChanged,
} from '../workspaces/index.ts';
import { awaitRunner } from '../runner/await-runner.ts';
import { WorkspaceUnavailable } from '../runner/workspace-unavailable.ts';
import type { Capture } from '../workspaces/index.ts';
import { finishRun } from './finish-run.ts';
import type { RunEnd } from './finish-run.ts';
import { clean } from '../db/clean-text.ts';
import { threadKey } from './queue-run.ts';
import { beginAttempt, endAttempt, whatRepairMade } from './repair/repair.ts';
import type { Attempt, RepairResult, Repairs, RepairTurn } from './repair/repair.ts';
import { judgeEnd } from './model-failure.ts';
import type { JudgedEnd } from './model-failure.ts';
import { queueUntaken } from './steering.ts';
import { activeFirst, holdRun, openRuns, startRun } from './store.ts';
import { driveTurn } from './turn.ts';
import type { TurnEnd } from './turn.ts';
import { refusalOf, turnRequest } from './turn-request.ts';

/**
 * How often a workspace that no sandbox can hold is tried; and one that fails otherwise (its source cannot
 * be read), before the job is given up.
 */
const WORKSPACE_ATTEMPTS = 3;
const LAST_ATTEMPTS = 7;
/** A runner ends a turn after an hour; what is open longer than this can no longer be settled by its turn. */
const GIVEN_UP_MS = 2 * 60 * 60_000;
const READS = 3;
const AGAIN_SECONDS = 20;

/** The job, and the domain that tells what a repair is and takes its end. */
type RunJob = Job<'run.work'> & { repairs: Repairs };

export async function workRuns(ctx: Context, claimed: Job<'run.work'>, repairs: Repairs): Promise<void> {
  const job = { ...claimed, repairs };
  while (!job.signal.aborted) {
    const run = await nextRun(ctx, job.payload.threadId);
    if (!run) return;
    const isDone = run.status === 'queued' ? await startAndWork(ctx, job, run) : await resume(ctx, job, run);
    if (!isDone) return;
  }
}

async function nextRun(ctx: Context, threadId: string): Promise<RunRow | undefined> {
  return ctx.db
    .selectFrom('runs')
    .selectAll()
    .where('thread_id', '=', threadId)
    .where(openRuns)
    .orderBy(activeFirst)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
}

/**
 * Returns false when the job has to end without the run being done (held back, or left to another worker).
 */
async function startAndWork(ctx: Context, job: RunJob, run: RunRow): Promise<boolean> {
  if (await isHeld(ctx, job, run)) return false;
  if (run.kind === 'restore') return restoreCheckpoint(ctx, job, run);
  let thread: ThreadRow | undefined;
  try {
    thread = await prepareWorkspace(ctx, job, run.thread_id, { reason: 'run', runId: run.id });
  } catch (error) {
    // Where the source could not be read for it, the runner only saw its archive break off; busy (409) is
    // what a dead worker's last request is still in.
    const isUnavailable =
      error instanceof WorkspaceUnavailable ||
      (error instanceof RunnerError && error.status !== 409 && !(error.cause instanceof ApiError));
    if (job.failures + 1 < (isUnavailable ? WORKSPACE_ATTEMPTS : LAST_ATTEMPTS)) throw error;
    ctx.log.error({ err: error, run: run.id }, 'the workspace of a run could not be prepared');
    await settle(
      ctx,
      job,
      run,
      {
        status: 'failed',
        reply: null,
        error: {
          code: 'workspace_unavailable',
          message:
            error instanceof WorkspaceUnavailable
              ? error.message
              : 'No workspace could be prepared. Retry, or ask the operator to look at the sandbox.',
        },
      },
      'not restored',
    );
    return true;
  }
  if (!thread) return false;
  const started = await start(ctx, job, run);
  if (started === 'held') return false;
  if (!started) return true;
  const refusal = await refusalOf(ctx, run, (await effectiveSettings(ctx.db, run)).approvals);
  if (refusal) {
    await settle(ctx, job, started, { status: 'failed', reply: refusal.message, error: refusal });
    return true;
  }
  return work(ctx, job, started, 'sandbox_lost');
}

/**
 * queued → running: one active run a thread, recorded before the agent starts. Undefined when the run was
 * ended meanwhile, `held` when another took the last place.
 */
async function start(ctx: Context, job: RunJob, run: RunRow): Promise<RunRow | 'held' | undefined> {
  return transaction(ctx, async (tx) => {
    await job.fence(tx);
    const now = await lockThreadById(tx, run.thread_id);
    if (!now || now.thread.archived_at) return undefined;
    if (!(await takePlace(tx, 'runs', run.id, projectOf(run)))) {
      await holdBack(tx, run);
      return 'held';
    }
    const started = await startRun(tx, run.id, now.thread.latest_source_id);
    if (!started) return undefined;
    appendEvent(
      tx,
      scopeOf(now.project),
      'run.running',
      { id: run.id, status: 'running' },
      { threadId: run.thread_id, runId: run.id },
    );
    await changeThread(tx, now, { stop_requested_at: null }, 'always');
    return started;
  });
}

const projectOf = (run: RunRow) => ({ id: run.project_id, org_id: run.org_id });

/** Queued beyond a limit: marked, and looked at again when another run has ended. */
async function holdBack(tx: Tx, run: RunRow): Promise<void> {
  await holdRun(tx, run.id);
  await enqueue(
    tx,
    'run.work',
    { threadId: run.thread_id },
    { key: threadKey(run.thread_id), fairKey: run.project_id, delaySeconds: PUT_OFF_SECONDS },
  );
  await passPlaceOn(tx, 'runs', projectOf(run));
}

/** Before a workspace is prepared for nothing; `start` decides. */
async function isHeld(ctx: Context, job: RunJob, run: RunRow): Promise<boolean> {
  if (await hasPlace(ctx.db, 'runs', run.id, projectOf(run))) return false;
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    await holdBack(tx, run);
  });
  return true;
}

/**
 * A run that a worker before this one started. The same task id is never started twice; where the runner is
 * another one, it is lost.
 */
async function resume(ctx: Context, job: RunJob, run: RunRow): Promise<boolean> {
  if (run.kind === 'restore') return restoreCheckpoint(ctx, job, run);
  if (Date.now() - run.started_at!.getTime() < GIVEN_UP_MS) return work(ctx, job, run, 'worker_lost');
  await settle(
    ctx,
    job,
    run,
    {
      status: 'failed',
      reply: '[interrupted]',
      error: { code: 'worker_lost', message: 'The end of this run could not be recorded. Retry the run.' },
    },
    'changed',
  );
  return true;
}

/**
 * A job that failed too often leaves its open runs to a new one; what is open for two hours is given up
 * there.
 */
export async function runsDied(ctx: Context, threadId: string): Promise<void> {
  await transaction(ctx, async (tx) => {
    const open = await tx.db
      .selectFrom('runs')
      .select('project_id')
      .where('thread_id', '=', threadId)
      .where(openRuns)
      .limit(1)
      .executeTakeFirst();
    if (open)
      await enqueue(
        tx,
        'run.work',
        { threadId },
        { key: threadKey(threadId), fairKey: open.project_id, delaySeconds: AGAIN_SECONDS },
      );
  });
}

async function work(
  ctx: Context,
  job: RunJob,
  run: RunRow,
  lostCode: 'sandbox_lost' | 'worker_lost',
): Promise<boolean> {
  const { thread, project } = await transaction(
    ctx,
    async (tx) => (await lockThreadById(tx, run.thread_id)) ?? { thread: undefined, project: undefined },
  );
  if (!thread || !project) return false;
  const rules = (await effectiveSettings(ctx.db, run)).approvals ?? [];
  const attempt = run.kind === 'repair' ? await job.repairs.attempt(ctx, run) : null;
  const isStarted = await ensureTask(ctx, job, project, run, thread, rules, attempt);
  const turn: TurnEnd = isStarted
    ? await readTurn(ctx, job, project, run, rules)
    : { kind: 'lost', text: '' };
  if (turn.kind === 'left') return false;
  if (attempt) {
    if (turn.kind !== 'gone')
      await settleRepair(ctx, job, run, thread, attempt, {
        end: turn.kind === 'ended' ? await judgeEnd(ctx, run, turn.end) : lostCode,
        text: turn.text,
      });
  } else if (turn.kind === 'ended')
    await settleTurn(ctx, job, run, thread, await judgeEnd(ctx, run, turn.end), turn.text);
  else if (turn.kind === 'lost')
    await settleFailure(ctx, job, run, thread, {
      status: 'failed',
      reply: turn.text || '[interrupted]',
      error: { code: lostCode, message: 'The sandbox of this run was lost. Retry the run.' },
    });
  // Only now: until the end is recorded, a worker after this one has to find the task.
  await ctx.runner
    .deleteTask(run.id, job.claimedAt)
    .catch((err: unknown) =>
      ctx.log.debug({ err, run: run.id }, 'a task was not removed; the runner forgets it'),
    );
  // Where this fails, the next use of the workspace does it.
  if (attempt)
    await endAttempt(ctx, job, thread, attempt).catch((err: unknown) =>
      ctx.log.warn({ err, run: run.id }, 'a workspace could not be put back yet'),
    );
  return true;
}

/**
 * A connection that broke is no lost sandbox: where the runner still has the task, its journal is read
 * again.
 */
async function readTurn(...args: Parameters<typeof driveTurn>): Promise<TurnEnd> {
  for (let reads = 1; ; reads++) {
    const turn = await driveTurn(...args);
    if (
      turn.kind !== 'lost' ||
      reads === READS ||
      !(await awaitRunner(args[0]).then(
        () => isTaskThere(args[0], args[3]),
        () => false,
      ))
    )
      return turn;
  }
}

/**
 * Starts the run's task where it is not there yet. False when its runner is gone, so that nobody can say
 * whether it ran.
 */
async function ensureTask(
  ctx: Context,
  job: RunJob,
  project: ProjectRow,
  run: RunRow,
  thread: ThreadRow,
  rules: Parameters<typeof turnRequest>[3],
  attempt: Attempt | null,
): Promise<boolean> {
  const runnerId = await awaitRunner(ctx).catch(() => null);
  if (runnerId === null) return false;
  if (await isTaskThere(ctx, run)) return true;
  if (thread.runner_id !== runnerId || !(await ctx.runner.workspaceExists(thread.id))) return false;
  if (attempt) await beginAttempt(ctx, job, thread, attempt);
  await ctx.runner.startTask(
    run.id,
    { ...(await turnRequest(ctx, project, run, rules)), ...(attempt ? { evidence: attempt.evidence } : {}) },
    job.claimedAt,
  );
  return true;
}

/** Throws where the runner does not say: that is tried again. */
async function isTaskThere(ctx: Context, run: RunRow): Promise<boolean> {
  return ctx.runner.task(run.id).then(
    () => true,
    (error: unknown) => {
      if (error instanceof RunnerError && error.status === 404) return false;
      throw error;
    },
  );
}

async function settleTurn(
  ctx: Context,
  job: RunJob,
  run: RunRow,
  thread: ThreadRow,
  end: JudgedEnd,
  text: string,
): Promise<void> {
  const stopped: RunEnd = { status: 'cancelled', reply: text ? `${text}\n\n[interrupted]` : '[interrupted]' };
  if (end.outcome === 'cancelled') return settleFailure(ctx, job, run, thread, stopped);
  if (end.outcome === 'failed') {
    const message = end.timedOut
      ? 'The run took longer than an hour.'
      : clean(end.error?.message ?? 'The agent failed.').slice(0, 4000);
    return settleFailure(ctx, job, run, thread, {
      status: 'failed',
      reply: text || message,
      error: { code: end.error?.code ?? 'agent_error', message },
    });
  }
  const read = await readResult(ctx, thread, run).catch((error: unknown) => unreadable(ctx, job, error));
  if (!read) {
    return settleFailure(ctx, job, run, thread, {
      status: 'failed',
      reply: text || '[interrupted]',
      error: {
        code: 'sandbox_lost',
        message: 'The result could not be read out of the sandbox. Retry the run.',
      },
    });
  }
  const { capture, staged } = read;
  const { warnings } = capture;
  if (capture.fault !== null)
    return settleFailure(
      ctx,
      job,
      run,
      thread,
      {
        status: 'failed',
        reply: text || capture.fault,
        warnings,
        error: { code: 'invalid_result', message: `The result breaks a rule for sources: ${capture.fault}` },
      },
      capture,
    );
  const completed: RunEnd = { status: 'completed', reply: text || 'Done.', warnings };
  const parents = run.base_source_id === null ? [] : [run.base_source_id];
  const settled = capture.isUnchanged
    ? await settle(ctx, job, run, { ...completed, resultSourceId: run.base_source_id })
    : await settle(ctx, job, run, {
        ...completed,
        source: { tree: capture.tree, staged, origin: 'run', parents },
      });
  if (settled === 'stopped') await settleFailure(ctx, job, run, thread, stopped, capture);
}

/** What the run left, its new contents staged (null where all of them are known). */
async function readResult(
  ctx: Context,
  thread: ThreadRow,
  run: RunRow,
): Promise<{ capture: Capture; staged: Staged }> {
  const capture = await captureWorkspace(ctx, thread, run.base_source_id);
  const isSource = capture.fault === null && !capture.isUnchanged;
  return { capture, staged: isSource ? await stageCapture(ctx, thread, capture, run.base_source_id) : null };
}

/**
 * The runner cannot read the workspace for good: not that it is away, that something is in the way, or that
 * the store is away.
 */
const isSandboxs = (err: unknown) =>
  err instanceof WorkspaceChanged || (err instanceof RunnerError && err.status !== 409 && err.status !== 503);

/** A capture that the runner refuses for good makes the run fail; null then. Anything else is tried again. */
function unreadable(ctx: Context, job: RunJob, err: unknown): null {
  if (!isSandboxs(err) || (job.failures === 0 && (err as RunnerError).status !== 404)) throw err;
  ctx.log.warn({ err, thread: job.payload.threadId }, 'a workspace could not be captured');
  return null;
}

/**
 * A bad end: what had changed is kept as a `recovery` source where it may be one, then the source files are
 * put back. Settled first: a worker that dies in between would find the workspace put back, and nothing to
 * keep. Where it cannot be kept now the end does not wait: the workspace stays as it is, and its next use
 * or its own end keeps it.
 */
async function settleFailure(
  ctx: Context,
  job: RunJob,
  run: RunRow,
  thread: ThreadRow,
  end: RunEnd,
  known?: Capture,
): Promise<void> {
  const parents = run.base_source_id === null ? [] : [run.base_source_id];
  let capture: Capture | null = null;
  let source: RunEnd['source'];
  let leftover: Leftover;
  try {
    capture = known ?? (await captureWorkspace(ctx, thread, run.base_source_id));
    if (!capture.isUnchanged && capture.fault === null)
      source = {
        tree: capture.tree,
        staged: await stageCapture(ctx, thread, capture, run.base_source_id),
        origin: 'recovery',
        parents,
      };
    leftover = capture.isUnchanged ? 'at base' : 'changed';
  } catch (err) {
    leftover = isSandboxs(err) ? 'unknown' : 'changed';
    ctx.log.warn(
      { err, run: run.id },
      leftover === 'unknown'
        ? 'a workspace could not be read; it is restored anew'
        : 'what a run had changed could not be kept yet',
    );
    capture = null;
  }
  const settled = await settle(ctx, job, run, source ? { ...end, source } : end, leftover);
  if (settled === 'ended' && capture && !capture.isUnchanged) {
    // Where this fails, the next use of the workspace does it.
    await resetWorkspace(ctx, job, thread, {
      sourceId: run.base_source_id,
      present: capture.tree,
    }).catch((err: unknown) => ctx.log.warn({ err, run: run.id }, 'a workspace could not be put back yet'));
  }
}

/** A repair's end, and its result for the apply. */
async function settleRepair(
  ctx: Context,
  job: RunJob,
  run: RunRow,
  thread: ThreadRow,
  attempt: Attempt,
  turn: RepairTurn,
): Promise<void> {
  const { end, result, capture } = await whatRepairMade(ctx, job, run, thread, attempt, turn);
  const leftover: Leftover = capture ? 'at base' : 'unknown';
  const settled = await settle(ctx, job, run, end, leftover, result);
  if (settled !== 'ended' && result?.candidate)
    await abandon(ctx, { org_id: run.org_id, id: run.project_id }, result.candidate.staged);
  if (settled === 'stopped')
    await settle(ctx, job, run, { status: 'cancelled', reply: '[interrupted]' }, leftover);
}

/**
 * What the workspace holds when a run has ended badly: its base, something else, or nobody knows. Or it
 * could not be made for the run.
 */
type Leftover = 'at base' | 'changed' | 'unknown' | 'not restored';

/**
 * The run's last transaction. `gone`: it was ended by somebody else meanwhile; `stopped`: a stop was
 * accepted before it completed. Nothing is written then.
 */
async function settle(
  ctx: Context,
  job: RunJob,
  run: RunRow,
  end: RunEnd,
  leftover: Leftover = 'at base',
  repaired: RepairResult | null = null,
): Promise<'ended' | 'stopped' | 'gone'> {
  return transaction(ctx, async (tx) => {
    await job.fence(tx);
    const now = await lockThreadById(tx, run.thread_id);
    if (!now) return 'gone';
    const open = await tx.db
      .selectFrom('runs')
      .selectAll()
      .where('id', '=', run.id)
      .where(openRuns)
      .forUpdate()
      .executeTakeFirst();
    if (!open) return 'gone';
    if (end.status === 'completed' && open.cancel_requested_at) return 'stopped';
    const sourceId = await finishRun(tx, now, open, end);
    await queueUntaken(tx, ctx.config, now, { run: open, isCancelled: end.status === 'cancelled' });
    const thread = await changeThread(
      tx,
      now,
      {
        ...(await threadAfter(ctx, tx.db, now, open, end, sourceId)),
        ...(leftover === 'changed' ? { workspace_source_id: sourceId } : {}),
      },
      'always',
    );
    if (leftover === 'unknown' && thread.workspace_status === 'ready')
      await changeWorkspace(
        tx,
        { ...now, thread },
        {
          event: 'vanish',
          reason: 'the runtime vanished',
          runId: run.id,
          change: { idle_expires_at: null },
        },
      );
    if (leftover === 'not restored') await giveUpRestore(tx, { ...now, thread }, run.id);
    if (open.kind === 'repair') await job.repairs.ended(tx, now, open, repaired);
    return 'ended';
  });
}

async function threadAfter(
  ctx: Context,
  db: Tx['db'],
  { thread }: LoadedThread,
  run: RunRow,
  end: RunEnd,
  sourceId: string | null,
) {
  const isNewest = end.status === 'completed' && sourceId !== null;
  return {
    ...(isNewest ? { latest_source_id: sourceId } : {}),
    // The workspace holds what was captured; a restore writes no workspace, the next use of it patches.
    ...(isNewest && end.source!.origin === 'run' ? { workspace_source_id: sourceId } : {}),
    ...(run.kind === 'repair' ? {} : { last_run_failed: end.status === 'failed' }),
    ...(thread.workspace_status === 'ready' ? { idle_expires_at: await freshDeadline(ctx, db, thread) } : {}),
  };
}

/** A restore is a run without an agent: a new source with the checkpoint's files. */
async function restoreCheckpoint(ctx: Context, job: RunJob, run: RunRow): Promise<boolean> {
  const started = run.status === 'queued' ? await start(ctx, job, run) : run;
  if (started === 'held') return false;
  if (!started) return true;
  const checkpoint = await ctx.db
    .selectFrom('checkpoints')
    .select('source_id')
    .where('id', '=', run.checkpoint_id!)
    .executeTakeFirstOrThrow();
  const tree = await loadTree(ctx, checkpoint.source_id);
  const settled = await settle(ctx, job, started, {
    status: 'completed',
    reply: 'Restored the files of the checkpoint.',
    source: {
      tree,
      staged: null,
      origin: 'restore',
      parents: [...new Set([started.base_source_id, checkpoint.source_id])].filter((id) => id !== null),
    },
  });
  if (settled === 'stopped') await settle(ctx, job, started, { status: 'cancelled', reply: '[interrupted]' });
  return true;
}
