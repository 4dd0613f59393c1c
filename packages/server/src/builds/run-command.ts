import { Readable } from 'node:stream';
import { RunnerError } from '@headrace/runner/client';
import type { TaskEnd } from '@headrace/runner/protocol';
import type { Context } from '../context.ts';
import type { Job } from '../jobs/worker.ts';
import { egressOf, logRefusal } from '../settings/index.ts';
import { putSourceFiles } from '../workspaces/index.ts';
import { openBuildLog } from './build-log.ts';
import type { Build } from './view.ts';

const LOOK_MS = 1_000;
/**
 * Over the command's own time, which the runner bounds: for the source's way into the sandbox and a busy
 * machine.
 */
const MARGIN_MS = 120_000;

/**
 * Runs a build's command at the runner, or attaches to it, and stores what it prints. Returns its end; null
 * when the runner does not know it, so that nobody can say what it did. Throws what runner, store and
 * database throw: a later attempt attaches again. `isFirst`: only the attempt that committed the build's
 * start may start its command.
 */
export async function runCommand(
  ctx: Context,
  job: Job,
  build: Build,
  isFirst: boolean,
): Promise<TaskEnd | null> {
  const watch = passOnCancel(ctx, build.id);
  try {
    if (!(await attach(ctx, build, isFirst))) return null;
    return await follow(ctx, job, build);
  } finally {
    watch.stop();
  }
}

/**
 * Makes sure that the task has its source, without which it does not begin. False when the runner does not
 * know the task.
 */
async function attach(ctx: Context, build: Build, isFirst: boolean): Promise<boolean> {
  const known = isFirst
    ? await ctx.runner.startTask(build.id, {
        kind: 'build',
        command: build.command,
        outputDirectory: build.output_directory,
        timeoutMs: build.timeout_seconds * 1000,
        ...(await egressOf(ctx.db, build)),
      })
    : await ctx.runner.task(build.id).catch((error: unknown) => {
        if (error instanceof RunnerError && error.status === 404) return null;
        throw error;
      });
  if (known?.status === 'preparing') await putSource(ctx, build);
  return known !== null;
}

async function putSource(ctx: Context, build: Build): Promise<void> {
  let fault: unknown;
  await putSourceFiles(ctx, build.project_id, build.source_id, (tar, origin) => {
    if (tar instanceof Readable)
      tar.once('error', (error) => {
        fault = error;
      });
    return ctx.runner.putSource(build.id, tar, origin);
  }).catch((error: unknown) => {
    // 409: it has its source already, or was cancelled before.
    if (error instanceof RunnerError && error.status === 409) return;
    throw fault ?? error;
  });
}

/** Reads the journal to its end, from where the log stands. */
async function follow(ctx: Context, job: Job, build: Build): Promise<TaskEnd> {
  const stopReading = new AbortController();
  const signal = AbortSignal.any([
    job.signal,
    stopReading.signal,
    AbortSignal.timeout(build.timeout_seconds * 1000 + MARGIN_MS),
  ]);
  const log = openBuildLog(ctx, job, build, () => stopReading.abort());
  try {
    for await (const entry of ctx.runner.journal(build.id, build.journal_offset + 1, signal)) {
      if (entry.type === 'output') log.add(entry.offset, entry.text);
      if (entry.type === 'refused') logRefusal(ctx, entry, { project: build.project_id, build: build.id });
      if (entry.type !== 'end') continue;
      await log.flush();
      return entry;
    }
    throw new RunnerError(503, 'unavailable', 'The journal ended without an end.');
  } catch (error) {
    // What had come before the break is kept; a log that could not be stored is why the reading stopped.
    await log.flush();
    throw error;
  } finally {
    stopReading.abort();
    log.close();
  }
}

/** Kills the command once its build is to be cancelled: on wake-ups and once a second. */
function passOnCancel(ctx: Context, buildId: string): { stop(): void } {
  let isPassedOn = false;
  let isLooking = false;
  const look = async () => {
    if (isPassedOn || isLooking) return;
    isLooking = true;
    try {
      const build = await ctx.db
        .selectFrom('builds')
        .select('cancel_requested_at')
        .where('id', '=', buildId)
        .executeTakeFirst();
      if (!build?.cancel_requested_at) return;
      await ctx.runner.cancel(buildId);
      isPassedOn = true;
    } catch (err) {
      ctx.log.debug(
        { err, build: buildId },
        'looking after a build failed; it is looked after again in a second',
      );
    } finally {
      isLooking = false;
    }
  };
  const unlisten = ctx.bus.listen('control', (id) => {
    if (id === buildId) void look();
  });
  const timer = setInterval(() => void look(), LOOK_MS);
  void look();
  return {
    stop() {
      unlisten();
      clearInterval(timer);
    },
  };
}
