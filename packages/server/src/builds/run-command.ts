import type { TaskState } from '@headrace/runner/protocol';
import type { Context } from '../context.ts';
import type { Job } from '../jobs/job.ts';
import { sendFiles, storeOutput } from '../logs/index.ts';
import type { Output } from '../logs/index.ts';
import { findTask } from '../runner/find-task.ts';
import { passCancelOn } from '../runner/pass-cancel-on.ts';
import { sandboxOf } from '../settings/index.ts';
import { isLayerGone, loseLayer } from '../setups/index.ts';
import { putSourceFiles } from '../workspaces/index.ts';
import { appendLog, isCancelRequested } from './store.ts';
import type { Build } from './store.ts';

/**
 * Added to the command's own time, which the runner bounds: for sending the source to the sandbox, and for a
 * busy machine.
 */
const MARGIN_MS = 120_000;

/** `unknown`: the runner lost the command. `no layer`: it lost what was to lie below its source before it began. */
export type Run = Output | { kind: 'unknown' } | { kind: 'no layer' };

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
    if (task.status === 'preparing' && !(await putSource(ctx, build))) return { kind: 'no layer' };
    return await storeOutput(
      ctx,
      job,
      { ...build, kind: 'build', append: (tx, pieces, size) => appendLog(tx, build, pieces, size) },
      build.timeout_seconds * 1000 + MARGIN_MS,
    );
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

/** Returns false where the layer is no longer kept; its setup's record then says so. */
async function putSource(ctx: Context, build: Build): Promise<boolean> {
  const { layer_of: layer } = build;
  try {
    await sendFiles((watch) =>
      putSourceFiles(ctx, build.project_id, build.source_id, (tar, origin) => {
        watch(tar);
        return ctx.runner.putSource(build.id, tar, { ...origin, layer: layer ?? undefined });
      }),
    );
    return true;
  } catch (error) {
    if (layer === null || !isLayerGone(error)) throw error;
    await loseLayer(ctx.db, layer);
    return false;
  }
}
