/**
 * The job behind a thread's runs: takes the active run (a worker before this one died) or the oldest queued one, until none is left.
 * It holds the thread's key, so the workspace is its alone.
 *
 *   queued --workspace ready--> running --turn ended, source stored--> completed
 *                               running --script failed, agent error, sandbox lost--> failed     (what had changed: a `recovery` source)
 *                               running --stop--> cancelled                                      (likewise)
 *   running, waiting after a restart: goes on where its sandbox lives, else failed `worker_lost`
 */
import { sql } from 'kysely';
import { RunnerError } from '@headrace/runner/client';
import type { TaskEnd } from '@headrace/runner/protocol';
import type { Context } from '../context.ts';
import type { RunRow, ThreadRow } from '../db/schema.ts';
import { appendEvent, transaction } from '../db/transaction.ts';
import { enqueue } from '../jobs/enqueue.ts';
import type { Job } from '../jobs/worker.ts';
import { scopeOf } from '../projects/index.ts';
import { effectiveSettings } from '../settings/index.ts';
import { loadTree } from '../sources/index.ts';
import { changeThread, lockThreadById } from '../threads/index.ts';
import type { LoadedThread } from '../threads/index.ts';
import { captureWorkspace, changeWorkspace, freshDeadline, prepareWorkspace, putBack, stageCapture, WorkspaceUnavailable } from '../workspaces/index.ts';
import { finishRun } from './finish-run.ts';
import type { RunEnd } from './finish-run.ts';
import { clean } from './record-tool.ts';
import { threadKey } from './queue-run.ts';
import type { RunError } from './schemas.ts';
import { driveTurn, turnRequest } from './turn.ts';

/** How long a run waits for a workspace that cannot be made, by attempts of its job. */
const WORKSPACE_ATTEMPTS = 3;
const CAPACITY_RETRY_SECONDS = 0.5;

export async function workRuns(ctx: Context, job: Job<'run.work'>): Promise<void> {
  while (!job.signal.aborted) {
    const run = await nextRun(ctx, job.payload.threadId);
    if (!run) return;
    const isDone = run.status === 'queued' ? await startAndWork(ctx, job, run) : await resume(ctx, job, run);
    if (!isDone) return;
  }
}

async function nextRun(ctx: Context, threadId: string): Promise<RunRow | undefined> {
  return ctx.db.selectFrom('runs').selectAll().where('thread_id', '=', threadId).where('status', 'in', ['queued', 'running', 'waiting'])
    .orderBy(sql`case when status = 'queued' then 1 else 0 end`).orderBy('id').limit(1).executeTakeFirst();
}

/** Returns false when the job has to end without the run being done (held back, or left to another worker). */
async function startAndWork(ctx: Context, job: Job<'run.work'>, run: RunRow): Promise<boolean> {
  if (await isHeld(ctx, job, run)) return false;
  if (run.kind === 'restore') return restoreCheckpoint(ctx, job, run);
  let thread: ThreadRow | undefined;
  try {
    thread = await prepareWorkspace(ctx, run.thread_id, 'run', run.id);
  } catch (error) {
    const isUnavailable = error instanceof WorkspaceUnavailable || error instanceof RunnerError;
    if (!isUnavailable || job.failures + 1 < WORKSPACE_ATTEMPTS) throw error;
    await settle(ctx, job, run, { status: 'failed', reply: null, error: { code: 'workspace_unavailable', message: (error as Error).message } });
    return true;
  }
  if (!thread) return false;
  const started = await start(ctx, job, run);
  if (!started) return true;
  const refusal = await refusalOf(ctx, run, thread);
  if (refusal) {
    await settle(ctx, job, started, { status: 'failed', reply: refusal.message, error: refusal });
    return true;
  }
  return work(ctx, job, started, 'sandbox_lost');
}

/** What a run is refused for before its agent starts: an agent that is not there, or money that is spent. */
async function refusalOf(ctx: Context, run: RunRow, thread: ThreadRow): Promise<{ code: RunError; message: string } | null> {
  void ctx;
  if (run.agent === 'scripted') return null;
  if (thread.spend_limit_micros !== null && thread.spent_micros >= thread.spend_limit_micros) return { code: 'spend_limit_reached', message: 'The thread\'s spend limit is reached. Raise it to go on.' };
  return { code: 'not_configured', message: 'The model of this run is not configured here. Configure its provider, or use the model scripted.' };
}

/** queued → running: one active run a thread, recorded before the agent starts. Undefined when the run was ended meanwhile. */
async function start(ctx: Context, job: Job<'run.work'>, run: RunRow): Promise<RunRow | undefined> {
  return transaction(ctx, async (tx) => {
    await job.fence(tx);
    const now = await lockThreadById(tx, run.thread_id);
    if (!now || now.thread.archived_at) return undefined;
    const started = await tx.db.updateTable('runs').set({ status: 'running', base_source_id: now.thread.latest_source_id, started_at: sql<Date>`now()`, active_since: sql<Date>`now()`, held: false }).where('id', '=', run.id).where('status', '=', 'queued').returningAll().executeTakeFirst();
    if (!started) return undefined;
    appendEvent(tx, scopeOf(now.project), 'run.running', { id: run.id, status: 'running' }, { threadId: run.thread_id, runId: run.id });
    await changeThread(tx, now, { stop_requested_at: null }, 'always');
    return started;
  });
}

/** Queued beyond the project's or the service's limit: marked, and looked at again in a moment. */
async function isHeld(ctx: Context, job: Job<'run.work'>, run: RunRow): Promise<boolean> {
  const settings = await effectiveSettings(ctx.db, run);
  const limit = settings.concurrency?.runs;
  if (limit === undefined || limit === null) return false;
  const { count } = await ctx.db.selectFrom('runs').select(sql<number>`count(*)`.as('count')).where('project_id', '=', run.project_id).where('status', 'in', ['running', 'waiting']).executeTakeFirstOrThrow();
  if (count < limit) return false;
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    await tx.db.updateTable('runs').set({ held: true }).where('id', '=', run.id).where('status', '=', 'queued').execute();
    await enqueue(tx, 'run.work', { threadId: run.thread_id }, { key: threadKey(run.thread_id), delaySeconds: CAPACITY_RETRY_SECONDS });
  });
  return true;
}

/** A run that a worker before this one started. The same task id is never started twice; where the runner is another one, it is lost. */
async function resume(ctx: Context, job: Job<'run.work'>, run: RunRow): Promise<boolean> {
  if (run.kind === 'restore') return restoreCheckpoint(ctx, job, run);
  return work(ctx, job, run, 'worker_lost');
}

async function work(ctx: Context, job: Job<'run.work'>, run: RunRow, lostCode: 'sandbox_lost' | 'worker_lost'): Promise<boolean> {
  const { thread, project } = await transaction(ctx, async (tx) => (await lockThreadById(tx, run.thread_id)) ?? { thread: undefined, project: undefined });
  if (!thread || !project) return false;
  const rules = (await effectiveSettings(ctx.db, run)).approvals ?? [];
  const isStarted = await ensureTask(ctx, run, thread, rules);
  const turn = isStarted ? await driveTurn(ctx, job, project, run, rules) : { kind: 'lost' as const, text: '' };
  if (turn.kind === 'left') return false;
  if (turn.kind === 'ended') await settleTurn(ctx, job, run, thread, turn.end, turn.text);
  if (turn.kind === 'lost') await settleFailure(ctx, job, run, thread, { status: 'failed', reply: turn.text || '[interrupted]', error: { code: lostCode, message: 'The sandbox of this run was lost. Retry the run.' } });
  // Only now: until the end is recorded, a worker after this one has to find the task.
  await ctx.runner.deleteTask(run.id).catch((err: unknown) => ctx.log.debug({ err, run: run.id }, 'a task was not removed; the runner forgets it'));
  return true;
}

/** Starts the run's task where it is not there yet. False when its runner is gone, so that nobody can say whether it ran. */
async function ensureTask(ctx: Context, run: RunRow, thread: ThreadRow, rules: Parameters<typeof turnRequest>[2]): Promise<boolean> {
  try {
    await ctx.runner.task(run.id);
    return true;
  } catch (error) {
    if (!(error instanceof RunnerError) || error.status !== 404) return false;
  }
  const status = ctx.runnerStatus() ?? await ctx.runner.status().catch(() => null);
  if (!status || thread.runner_id !== `${status.id}:${status.pid}` || !await ctx.runner.workspaceExists(thread.id)) return false;
  await ctx.runner.startTask(run.id, turnRequest(run, await promptOf(ctx, run), rules));
  return true;
}

async function promptOf(ctx: Context, run: RunRow): Promise<string> {
  if (run.prompt !== null) return run.prompt;
  return (await ctx.db.selectFrom('messages').select('content').where('id', '=', run.message_id!).executeTakeFirstOrThrow()).content;
}

async function settleTurn(ctx: Context, job: Job<'run.work'>, run: RunRow, thread: ThreadRow, end: TaskEnd, text: string): Promise<void> {
  if (end.outcome === 'cancelled') return settleFailure(ctx, job, run, thread, { status: 'cancelled', reply: text ? `${text}\n\n[interrupted]` : '[interrupted]' });
  if (end.outcome === 'failed') {
    const message = end.timedOut ? 'The run took longer than an hour.' : clean(end.error?.message ?? 'The agent failed.').slice(0, 4000);
    return settleFailure(ctx, job, run, thread, { status: 'failed', reply: text || message, error: { code: end.error?.code ?? 'agent_error', message } });
  }
  const capture = await captureWorkspace(ctx, thread, run.base_source_id);
  const { warnings } = capture;
  if (capture.fault) return settleFailure(ctx, job, run, thread, { status: 'failed', reply: text, warnings, error: { code: 'invalid_result', message: `The result breaks a rule for sources: ${capture.fault}` } }, capture);
  if (capture.isUnchanged) return void await settle(ctx, job, run, { status: 'completed', reply: text, resultSourceId: run.base_source_id, warnings });
  const staged = await stageCapture(ctx, thread, capture, run.base_source_id);
  const parents = run.base_source_id === null ? [] : [run.base_source_id];
  await settle(ctx, job, run, { status: 'completed', reply: text, warnings, source: { tree: capture.tree, staged, origin: 'run', parents } });
}

/** A bad end: what had changed is kept as a `recovery` source where it may be one, and the source files are put back. */
async function settleFailure(ctx: Context, job: Job<'run.work'>, run: RunRow, thread: ThreadRow, end: RunEnd, known?: Awaited<ReturnType<typeof captureWorkspace>>): Promise<void> {
  let survived: RunEnd['source'];
  let isPutBack = false;
  try {
    const capture = known ?? await captureWorkspace(ctx, thread, run.base_source_id);
    if (!capture.isUnchanged && !capture.fault) survived = { tree: capture.tree, staged: await stageCapture(ctx, thread, capture, run.base_source_id), origin: 'recovery', parents: run.base_source_id === null ? [] : [run.base_source_id] };
    if (!capture.isUnchanged) await putBack(ctx, thread, run.base_source_id, capture.tree);
    isPutBack = true;
  } catch (err) {
    ctx.log.warn({ err, run: run.id }, 'a workspace could not be put back; it is restored anew');
  }
  await settle(ctx, job, run, survived ? { ...end, source: survived } : end, isPutBack);
}

/** The run's last transaction. Nothing is written when the run was ended by somebody else meanwhile. */
async function settle(ctx: Context, job: Job<'run.work'>, run: RunRow, end: RunEnd, isWorkspaceGood = true): Promise<void> {
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    const now = await lockThreadById(tx, run.thread_id);
    if (!now) return;
    const open = await tx.db.selectFrom('runs').selectAll().where('id', '=', run.id).where('status', 'in', ['queued', 'running', 'waiting']).forUpdate().executeTakeFirst();
    if (!open) return;
    const sourceId = await finishRun(tx, now, open, end);
    await changeThread(tx, now, { ...await threadAfter(ctx, tx.db, now, open, end, sourceId) }, 'always');
    if (!isWorkspaceGood && now.thread.workspace_status === 'ready') await changeWorkspace(tx, { ...now, thread: (await lockThreadById(tx, run.thread_id))!.thread }, 'error', 'the files could not be put back', { runId: run.id });
  });
}

async function threadAfter(ctx: Context, db: Parameters<typeof freshDeadline>[0], { thread }: LoadedThread, run: RunRow, end: RunEnd, sourceId: string | null) {
  const isNewest = end.status === 'completed' && sourceId !== null;
  return {
    ...(isNewest ? { latest_source_id: sourceId } : {}),
    // The workspace holds what was captured; a restore writes no workspace, the next use of it patches.
    ...(isNewest && end.source!.origin === 'run' ? { workspace_source_id: sourceId } : {}),
    ...(run.kind === 'repair' || end.status === 'cancelled' ? {} : { last_run_failed: end.status === 'failed' }),
    ...(thread.workspace_status === 'ready' ? { idle_expires_at: await freshDeadline(db, thread, ctx.config.idleTimeoutMinutes) } : {}),
  };
}

/** A restore is a run without an agent: a new source with the checkpoint's files. */
async function restoreCheckpoint(ctx: Context, job: Job<'run.work'>, run: RunRow): Promise<boolean> {
  const started = run.status === 'queued' ? await start(ctx, job, run) : run;
  if (!started) return true;
  const checkpoint = await ctx.db.selectFrom('checkpoints').select('source_id').where('id', '=', run.checkpoint_id!).executeTakeFirstOrThrow();
  const tree = await loadTree(ctx, checkpoint.source_id);
  await settle(ctx, job, started, { status: 'completed', reply: 'Restored the files of the checkpoint.', source: { tree, staged: null, origin: 'restore', parents: [...new Set([started.base_source_id, checkpoint.source_id])].filter((id) => id !== null) } });
  return true;
}
