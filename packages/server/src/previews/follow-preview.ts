/** Follows a preview's command at its runner to its end. */
import type { TaskEnd } from '@headrace/runner/protocol';
import type { Context } from '../context.ts';
import { clean } from '../db/clean-text.ts';
import type { Job } from '../jobs/job.ts';
import { isLost } from '../runner/at-runner.ts';
import { findTask } from '../runner/find-task.ts';
import { followTask } from '../runner/follow-task.ts';
import { OutputTail } from '../runner/output-tail.ts';
import { logRefusal } from '../settings/index.ts';
import { changeFenced } from './change-preview.ts';
import { LOST } from './outcome.ts';
import type { Outcome } from './outcome.ts';
import { pause } from './pause.ts';
import type { PreviewError } from './schemas.ts';
import type { PreviewNow } from './store.ts';

/** How often, and at which interval, a runner that does not answer is asked. */
const RUNNER_TRIES = 20;
const RUNNER_RETRY_MS = 1_000;

/** Makes the preview ready when its server listens, and returns the error of a command that ended. */
export async function followPreview(
  ctx: Context,
  job: Job,
  preview: PreviewNow,
  signal: AbortSignal,
): Promise<Outcome> {
  const { id, project_id: project, thread_id: thread } = preview;
  const of = { project, ...(thread === null ? {} : { thread }), preview: id };
  const tail = new OutputTail();
  const followed = await followTask(ctx, id, {
    signal,
    async onEntry(entry) {
      if (entry.type === 'output') tail.add(entry.text);
      if (entry.type === 'refused') logRefusal(ctx, entry, of);
      if (entry.type === 'listening') await changeFenced(ctx, job, preview, { event: 'listen' });
      await ctx.runner.ack(id, entry.offset);
    },
    resumeFrom: async (next) => ((await isAlive(ctx, id, signal)) ? next : null),
  });
  if (followed.kind === 'left') return followed;
  return { kind: 'failed', error: followed.kind === 'ended' ? errorOfEnd(followed.end, tail) : LOST };
}

/**
 * Whether the runner still has the preview. Waits for a runner that does not answer: it is being started
 * again.
 */
async function isAlive(ctx: Context, previewId: string, signal: AbortSignal): Promise<boolean> {
  for (let tries = 0; tries < RUNNER_TRIES && !signal.aborted; tries++) {
    try {
      return (await findTask(ctx, previewId)) !== null;
    } catch {
      if (await isLost(ctx, ctx.at?.id ?? null)) return false;
      await pause(RUNNER_RETRY_MS, signal);
    }
  }
  return false;
}

function errorOfEnd(end: TaskEnd, tail: OutputTail): PreviewError {
  if (end.error || end.outcome !== 'completed')
    return end.error ? { ...LOST, message: clean(end.error.message).slice(0, 500) } : LOST;
  const how = end.oom
    ? 'used too much memory and was ended'
    : end.signal
      ? `was ended by ${end.signal}`
      : `ended with ${end.exitCode}`;
  return { code: 'command_ended', message: `The command ${how}.${tail.sentence()}` };
}
