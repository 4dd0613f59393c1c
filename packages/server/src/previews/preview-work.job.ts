/**
 * The job behind a preview, held as long as it is open: starts its sandbox, tells when its server listens,
 * writes newer sources into it, and removes it once the row says that it is over. A worker that takes the
 * job over finds the sandbox at the runner and follows on.
 */
import { sql } from 'kysely';
import type { TaskEnd } from '@headrace/runner/protocol';
import type { Context } from '../context.ts';
import { transaction } from '../db/transaction.ts';
import type { Job } from '../jobs/job.ts';
import { clean } from '../db/clean-text.ts';
import { egressOf, logRefusal } from '../settings/index.ts';
import { findTask } from '../runner/find-task.ts';
import { followTask } from '../runner/follow-task.ts';
import { requireRunner } from '../runner/runner-id.ts';
import { bringFirst, bringNewer } from './bring-source.ts';
import type { Sourced } from './bring-source.ts';
import { changePreview } from './change-preview.ts';
import { LIFE_SECONDS, START_SECONDS } from './schemas.ts';
import type { PreviewError } from './schemas.ts';
import { isOpen } from './view.ts';

/** Wake-ups come at once; without them it looks this often. */
const LOOK_MS = 2_000;
/** How long a runner that does not answer is waited for. */
const RUNNER_TRIES = 20;
const RUNNER_RETRY_MS = 1_000;
/** The end of what the command printed, kept for its error. */
const TAIL = 1_000;

type Outcome = { kind: 'over' } | { kind: 'failed'; error: PreviewError } | { kind: 'left' };
type Look = Sourced & {
  thread_id: string;
  status: 'starting' | 'ready' | 'failed' | 'stopped';
  command: string;
  port: number;
  is_late: boolean;
  is_expired: boolean;
  org_id: string;
  kind: 'platform' | 'direct';
};

const LOST: PreviewError = { code: 'sandbox_lost', message: 'The sandbox was lost. Create a new preview.' };
const LATE: PreviewError = {
  code: 'start_timed_out',
  message: `Nothing listened on the port within ${START_SECONDS} seconds. Check the command and the port.`,
};

export async function workPreview(ctx: Context, job: Job<'preview.work'>): Promise<void> {
  const { previewId } = job.payload;
  const preview = await look(ctx, previewId);
  if (!preview) return;
  const outcome = isOpen(preview) ? await show(ctx, job, preview) : { kind: 'over' as const };
  if (outcome.kind === 'left') return;
  if (outcome.kind === 'failed') await move(ctx, job, preview, 'failed', outcome.error);
  await ctx.runner.deleteTask(previewId);
}

/**
 * After its last attempt: it could not be started, or not be followed. Its sandbox is removed by the
 * reconciler.
 */
export async function previewDied(ctx: Context, previewId: string): Promise<void> {
  const preview = await look(ctx, previewId);
  if (preview)
    await transaction(ctx, (tx) =>
      changePreview(tx, projectOf(preview), previewId, 'failed', {
        code: 'sandbox_lost',
        message: 'No sandbox could be made for it. Try again, or ask the operator to look at the runner.',
      }),
    );
}

const projectOf = (p: Look) => ({ id: p.project_id, org_id: p.org_id, kind: p.kind });

async function look(ctx: Context, previewId: string): Promise<Look | undefined> {
  const { rows } = await sql<Look>`
    select p.id, p.project_id, p.thread_id, p.org_id, p.status, p.command, p.port, p.source_id, t.latest_source_id, j.kind, p.expires_at <= now() as is_expired,
      p.status = 'starting' and p.created_at <= now() - ${START_SECONDS} * interval '1 second' as is_late
    from previews p join threads t on t.id = p.thread_id join projects j on j.id = p.project_id where p.id = ${previewId}`.execute(
    ctx.db,
  );
  return rows[0];
}

async function move(
  ctx: Context,
  job: Job,
  preview: Look,
  to: 'ready' | 'failed' | 'stopped',
  error?: PreviewError,
): Promise<void> {
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    await changePreview(tx, projectOf(preview), preview.id, to, error);
  });
}

/** From the sandbox to its end, or to the row's. */
async function show(ctx: Context, job: Job<'preview.work'>, preview: Look): Promise<Outcome> {
  if (preview.is_late) return { kind: 'failed', error: LATE };
  if (!(await ensureTask(ctx, preview))) return { kind: 'failed', error: LOST };
  const stop = new AbortController();
  const leave = () => stop.abort();
  job.signal.addEventListener('abort', leave);
  if (job.signal.aborted) leave();
  const both = [followJournal(ctx, job, preview, stop.signal), watchRow(ctx, job, preview, stop.signal)];
  try {
    return await Promise.race(both);
  } finally {
    stop.abort();
    job.signal.removeEventListener('abort', leave);
    await Promise.allSettled(both);
  }
}

/** Starts the sandbox, or finds it. False when one that was ready is gone. */
async function ensureTask(ctx: Context, preview: Look): Promise<boolean> {
  requireRunner(ctx);
  let task = await findTask(ctx, preview.id);
  if (!task && preview.status === 'ready') return false;
  // The runner's own limit stands behind ours, for a service that does not come back.
  task ??= await ctx.runner.startTask(preview.id, {
    kind: 'preview',
    command: preview.command,
    port: preview.port,
    timeoutMs: (LIFE_SECONDS + START_SECONDS) * 1000,
    ...(await egressOf(ctx.db, preview)),
  });
  if (task.status === 'preparing') await bringFirst(ctx, preview);
  return true;
}

async function followJournal(ctx: Context, job: Job, preview: Look, signal: AbortSignal): Promise<Outcome> {
  const { id, project_id: project, thread_id: thread } = preview;
  let tail = '';
  const followed = await followTask(ctx, id, {
    signal,
    async onEntry(entry) {
      if (entry.type === 'output') tail = (tail + entry.text).slice(-TAIL);
      if (entry.type === 'refused') logRefusal(ctx, entry, { project, thread, preview: id });
      if (entry.type === 'listening') await move(ctx, job, preview, 'ready');
      await ctx.runner.ack(id, entry.offset);
    },
    resumeFrom: async (next) => ((await isAlive(ctx, id, signal)) ? next : null),
  });
  if (followed.kind === 'left') return followed;
  return { kind: 'failed', error: followed.kind === 'ended' ? endOf(followed.end, tail) : LOST };
}

/** Whether the runner still has it; one that does not answer is being started again. */
async function isAlive(ctx: Context, previewId: string, signal: AbortSignal): Promise<boolean> {
  for (let tries = 0; tries < RUNNER_TRIES && !signal.aborted; tries++) {
    try {
      return (await findTask(ctx, previewId)) !== null;
    } catch {
      await pause(RUNNER_RETRY_MS, signal);
    }
  }
  return false;
}

function endOf(end: TaskEnd, tail: string): PreviewError {
  if (end.error || end.outcome !== 'completed')
    return end.error ? { ...LOST, message: clean(end.error.message).slice(0, 500) } : LOST;
  const how = end.oom
    ? 'used too much memory and was ended'
    : end.signal
      ? `was ended by ${end.signal}`
      : `ended with ${end.exitCode}`;
  const said = clean(tail).trim();
  return { code: 'command_ended', message: `The command ${how}.${said ? ` Its last output: ${said}` : ''}` };
}

/** Until the row is over: limits in time are kept here, and newer sources are written. */
async function watchRow(
  ctx: Context,
  job: Job,
  { id: previewId, thread_id: threadId }: Look,
  signal: AbortSignal,
): Promise<Outcome> {
  let wake = () => {};
  let isWoken = false;
  const unlisten = ctx.bus.listen('control', (id) => {
    if (id === previewId || id === threadId) {
      isWoken = true;
      wake();
    }
  });
  try {
    while (!signal.aborted) {
      isWoken = false;
      const now = await look(ctx, previewId);
      if (!now || !isOpen(now)) return { kind: 'over' };
      if (now.is_late) return { kind: 'failed', error: LATE };
      if (now.is_expired) {
        await move(ctx, job, now, 'stopped');
        return { kind: 'over' };
      }
      if (now.latest_source_id !== now.source_id)
        await bringNewer(ctx, now).catch((err: unknown) =>
          ctx.log.debug(
            { err, previewId },
            'a newer source was not written into a preview; it is tried again',
          ),
        );
      if (!isWoken)
        await pause(LOOK_MS, signal, (ring) => {
          wake = ring;
        });
    }
    return { kind: 'left' };
  } finally {
    unlisten();
  }
}

/** Waits `ms`, less where `signal` fires or the ring is rung. */
function pause(
  ms: number,
  signal: AbortSignal,
  giveRing: (ring: () => void) => void = () => {},
): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
    giveRing(done);
    if (signal.aborted) done();
  });
}
