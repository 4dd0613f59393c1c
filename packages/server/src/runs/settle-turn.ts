import { RunnerError } from '@headrace/runner/client';
import { clean } from '../db/clean-text.ts';
import type { Staged } from '../sources/index.ts';
import { captureWorkspace, isBeyondReading, stageCapture } from '../workspaces/index.ts';
import type { Capture } from '../workspaces/index.ts';
import type { StartedRun } from './claimed-run.ts';
import type { RunEnd } from './finish-run.ts';
import type { JudgedEnd } from './model-failure.ts';
import { isSandboxFault, settleFailure } from './settle-failure.ts';
import { settleRun } from './settle-run.ts';

/** Settles a run whose agent ended its turn. */
export async function settleTurn(started: StartedRun, end: JudgedEnd, text: string): Promise<void> {
  if (end.outcome === 'cancelled') return settleFailure(started, stopped(text));
  if (end.outcome === 'failed') return settleFailure(started, failed(end, text));
  const read = await readResult(started).catch((error: unknown) => unreadable(started, error));
  if (read instanceof RunnerError) return settleFailure(started, invalid(read.message, text), null);
  if (!read)
    return settleFailure(started, {
      status: 'failed',
      reply: text || '[interrupted]',
      error: {
        code: 'sandbox_lost',
        message: 'The result could not be read out of the sandbox. Retry the run.',
      },
    });
  const { capture, staged } = read;
  if (capture.fault !== null) return settleFailure(started, invalid(capture.fault, text), capture);
  const { base_source_id: baseSourceId } = started.run;
  const settled = await settleRun(
    started,
    {
      status: 'completed',
      reply: text || 'Done.',
      warnings: capture.warnings,
      ...(capture.held === null
        ? { resultSourceId: baseSourceId }
        : {
            source: {
              tree: capture.held,
              staged,
              origin: 'run' as const,
              parents: baseSourceId === null ? [] : [baseSourceId],
            },
          }),
    },
    { leftover: capture.held === null ? 'at base' : 'as recorded' },
  );
  if (settled === 'stopped') await settleFailure(started, stopped(text), capture);
}

const stopped = (text: string): RunEnd => ({
  status: 'cancelled',
  reply: text ? `${text}\n\n[interrupted]` : '[interrupted]',
});

function failed(end: JudgedEnd, text: string): RunEnd {
  const message = end.timedOut
    ? 'The run took longer than an hour.'
    : clean(end.error?.message ?? 'The agent failed.').slice(0, 4000);
  return {
    status: 'failed',
    reply: text || message,
    error: { code: end.error?.code ?? 'agent_error', message },
  };
}

const invalid = (fault: string, text: string): RunEnd => ({
  status: 'failed',
  reply: text || fault,
  error: { code: 'invalid_result', message: `The result breaks a rule for sources: ${fault}` },
});

/** What the run left, with its new contents staged (null where all of them are known). */
async function readResult({ ctx, thread, run }: StartedRun): Promise<{ capture: Capture; staged: Staged }> {
  const capture = await captureWorkspace(ctx, thread, run.base_source_id);
  const isSource = capture.fault === null && capture.held !== null;
  return { capture, staged: isSource ? await stageCapture(ctx, thread, capture, run.base_source_id) : null };
}

/**
 * The runner's refusal of a workspace that is too much to read. Null where the workspace cannot be read
 * for another reason. Anything else is tried again.
 */
function unreadable({ ctx, job }: StartedRun, err: unknown): RunnerError | null {
  if (isBeyondReading(err)) return err;
  const isMissing = err instanceof RunnerError && err.status === 404;
  if (!isSandboxFault(err) || (job.failures === 0 && !isMissing)) throw err;
  ctx.log.warn({ err, thread: job.payload.threadId }, 'a workspace could not be captured');
  return null;
}
