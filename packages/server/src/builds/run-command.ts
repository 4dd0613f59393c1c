import { Readable } from 'node:stream';
import { RunnerError } from '@headrace/runner/client';
import type { TaskEnd, TaskState } from '@headrace/runner/protocol';
import type { Context } from '../context.ts';
import type { Job } from '../jobs/job.ts';
import { findTask } from '../runner/find-task.ts';
import { followTask } from '../runner/follow-task.ts';
import type { Followed } from '../runner/follow-task.ts';
import { OutputTail } from '../runner/output-tail.ts';
import { passCancelOn } from '../runner/pass-cancel-on.ts';
import { CommandLog, readLog } from '../logs/index.ts';
import { logRefusal, refusalWarning, sandboxOf } from '../settings/index.ts';
import { putSourceFiles } from '../workspaces/index.ts';
import { appendLog, isCancelRequested } from './store.ts';
import type { Build } from './store.ts';

/**
 * Added to the command's own time, which the runner bounds: for sending the source to the sandbox, and for a
 * busy machine.
 */
const MARGIN_MS = 120_000;

/** `left`: this worker stops, another goes on. `unknown`: the runner lost the command. */
export type Run =
  | { kind: 'ended'; end: TaskEnd; tail: OutputTail }
  | Extract<Followed, { kind: 'left' }>
  | { kind: 'unknown' };

/**
 * Runs a build's command at the runner and stores what it prints. Throws what runner, store and database
 * throw: a later attempt attaches again. Only the attempt that committed the build's start may start its
 * command.
 */
export async function runCommand(
  ctx: Context,
  job: Job,
  build: Build,
  how: 'start' | 'attach',
): Promise<Run> {
  const cancelling = passCancelOn(ctx, build.id, build.id, () => isCancelRequested(ctx.db, build.id));
  try {
    const task = how === 'start' ? await startTask(ctx, build) : await findTask(ctx, build.id);
    if (!task) return { kind: 'unknown' };
    // The command starts when its source is there.
    if (task.status === 'preparing') await putSource(ctx, build);
    return await storeOutput(ctx, job, build);
  } finally {
    cancelling.stop();
  }
}

async function startTask(ctx: Context, build: Build): Promise<TaskState> {
  return ctx.runner.startTask(build.id, {
    kind: 'build',
    command: build.command,
    outputDirectory: build.output_directory,
    timeoutMs: build.timeout_seconds * 1000,
    ...(await sandboxOf(ctx, build, 'build')),
  });
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
    // 409: it has its source already, or was cancelled.
    if (error instanceof RunnerError && error.status === 409) return;
    throw fault ?? error;
  });
}

/** Reads the journal to its end, from where the stored log ends. */
async function storeOutput(ctx: Context, job: Job, build: Build): Promise<Run> {
  const stopReading = new AbortController();
  const log = new CommandLog(ctx, job, {
    ...build,
    taskId: build.id,
    append: (tx, pieces, size) => appendLog(tx, build, pieces, size),
    onFault: () => stopReading.abort(),
  });
  const tail = new OutputTail();
  if (build.logs_byte_size > 0) tail.add((await readLog(ctx.db, { kind: 'build', ...build })).text);
  try {
    const followed = await followTask(ctx, build.id, {
      from: build.journal_offset + 1,
      signal: AbortSignal.any([job.signal, stopReading.signal]),
      limitMs: build.timeout_seconds * 1000 + MARGIN_MS,
      onEntry(entry) {
        if (entry.type === 'output') {
          tail.add(entry.text);
          log.add(entry.offset, entry.text);
        }
        if (entry.type !== 'refused') return;
        logRefusal(ctx, entry, { project: build.project_id, build: build.id });
        const { path, reason } = refusalWarning(entry);
        log.addLine(entry.offset, `[${path}: ${reason}]`);
      },
    });
    if (followed.kind === 'broken') throw followed.error;
    return followed.kind === 'ended' ? { ...followed, tail } : followed;
  } finally {
    // Keeps the output that came before a break, and throws what kept the log from being stored.
    await log.flush();
  }
}
