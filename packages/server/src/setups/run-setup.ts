import { LAYER_TIMEOUT_MS } from '@headrace/runner/protocol';
import type { TaskState } from '@headrace/runner/protocol';
import type { Context } from '../context.ts';
import type { SetupRow } from '../db/schema.ts';
import type { Job } from '../jobs/job.ts';
import { sendFiles, storeOutput } from '../logs/index.ts';
import type { Output } from '../logs/index.ts';
import { findTask } from '../runner/find-task.ts';
import { passCancelOn } from '../runner/pass-cancel-on.ts';
import { sandboxOf } from '../settings/index.ts';
import { loadTree, tarOf } from '../sources/index.ts';
import { namedFiles } from './key.ts';
import { appendLog, isUnderWay } from './store.ts';

/** Added to the times that the runner bounds: for sending the files, and for a busy machine. */
const MARGIN_MS = 120_000;

/** `unknown`: the runner lost the command. */
export type Run = Output | { kind: 'unknown' };

/**
 * Runs a setup's command at the runner and stores what it prints. Throws what runner, store and database throw:
 * a later attempt attaches again. Only the attempt that committed the start may start the command.
 */
export async function runSetup(
  ctx: Context,
  job: Job,
  setup: SetupRow,
  how: 'start' | 'attach',
): Promise<Run> {
  const cancelling = passCancelOn(ctx, setup.id, setup.id, async () => !(await isUnderWay(ctx.db, setup.id)));
  try {
    const task = how === 'start' ? await startTask(ctx, setup) : await findTask(ctx, setup.id);
    if (!task) return { kind: 'unknown' };
    // The command starts when its files are there.
    if (task.status === 'preparing') await putFiles(ctx, setup);
    return await storeOutput(
      ctx,
      job,
      { ...setup, kind: 'setup', append: (tx, pieces, size) => appendLog(tx, setup, pieces, size) },
      setup.timeout_seconds * 1000 + LAYER_TIMEOUT_MS + MARGIN_MS,
    );
  } finally {
    cancelling.stop();
  }
}

const startTask = async (ctx: Context, setup: SetupRow): Promise<TaskState> =>
  ctx.runner.startTask(setup.id, {
    kind: 'setup',
    command: setup.command,
    group: setup.project_id,
    timeoutMs: setup.timeout_seconds * 1000,
    ...(await sandboxOf(ctx, setup, 'build')),
  });

async function putFiles(ctx: Context, setup: SetupRow): Promise<void> {
  const files = namedFiles(await loadTree(ctx, setup.source_id), setup.paths);
  await sendFiles((watch) => {
    const tar = tarOf(ctx, setup.project_id, files);
    watch(tar);
    return ctx.runner.putSource(setup.id, tar);
  });
}
