/**
 * A run that repairs the conflicts of a merge. It starts from files that are no source, and what it leaves
 * is none: the merge's domain decides on it and publishes it. This domain works the run; `Repairs` says what it
 * starts from, and is given its result.
 *
 *   workspace at the draft --> put to the attempt's files --> turn --> captured, report read --> run ended
 *   with its result --> back to the draft
 */
import { RunnerError } from '@headrace/runner/client';
import type { Context } from '../../context.ts';
import { clean } from '../../db/clean-text.ts';
import type { Repair, ThreadRow } from '../../db/schema.ts';
import type { Holder } from '../../runner/await-runner.ts';
import { loadTree } from '../../sources/index.ts';
import { sourceSha256 } from '../../trees/manifest.ts';
import type { Tree } from '../../trees/tree.ts';
import {
  captureWorkspace,
  isBeyondReading,
  packPatch,
  recordWorkspaceSource,
  stageCapture,
  WorkspaceChanged,
} from '../../workspaces/index.ts';
import type { Capture } from '../../workspaces/index.ts';
import type { LostCode, StartedRun } from '../claimed-run.ts';
import type { RunEnd } from '../finish-run.ts';
import type { JudgedEnd } from '../model-failure.ts';
import { FOLDER } from './attempt.ts';
import type { Attempt, RepairResult } from './attempt.ts';
import { changedElsewhere, unnamed } from './changes.ts';
import { leftMarkers } from './markers.ts';
import { readReport } from './report.ts';

/** At most so many paths are in an error. */
const SHOWN = 10;

/**
 * Changes a workspace from the draft to the attempt's files, without what an earlier attempt left. Repeated
 * after a worker died here.
 */
export async function beginAttempt(
  ctx: Context,
  job: Holder,
  thread: ThreadRow,
  { files, made }: Attempt,
): Promise<void> {
  // From here it holds no source, and its next use puts it back, however this attempt ends.
  await recordWorkspaceSource(ctx, job, thread.id, null);
  await ctx.runner.patch(
    thread.id,
    await packPatch(ctx, {
      projectId: thread.project_id,
      from: await draftOf(ctx, thread),
      to: files,
      made,
      remove: [FOLDER],
    }),
    job.claimedAt,
  );
}

/**
 * Changes a workspace back to the draft, however the repair ended. No task may live in it.
 */
export async function endAttempt(
  ctx: Context,
  job: Holder,
  thread: ThreadRow,
  { files }: Attempt,
): Promise<void> {
  if (!(await ctx.runner.workspaceExists(thread.id))) return;
  const { tree, strays } = await captureWorkspace(ctx, thread, files);
  await ctx.runner.patch(
    thread.id,
    await packPatch(ctx, {
      projectId: thread.project_id,
      from: tree,
      to: await draftOf(ctx, thread),
      remove: [FOLDER],
      removeBytes: strays,
    }),
    job.claimedAt,
  );
  await recordWorkspaceSource(ctx, job, thread.id, thread.latest_source_id);
}

/** An apply keeps a thread's latest source as it is: the draft. */
async function draftOf(ctx: Context, thread: ThreadRow): Promise<Tree> {
  return thread.latest_source_id === null ? new Map() : loadTree(ctx, thread.latest_source_id);
}

/** The run of a repair. */
export type RepairRun = StartedRun & { repair: Attempt };

/** How its agent's turn ended: by itself, or, by a code for its run, with its sandbox. */
export interface RepairTurn {
  end: JudgedEnd | LostCode;
  text: string;
}

interface Worked {
  end: RunEnd;
  result: RepairResult | null;
  /** Null when the workspace could not be read. */
  capture: Capture | null;
}

/** What a repair's turn made. Throws what is to be tried again. */
export async function whatRepairMade(started: RepairRun, { end, text }: RepairTurn): Promise<Worked> {
  if (typeof end === 'string')
    return failed(null, text, { code: end, message: 'The sandbox of this repair was lost.' });
  try {
    return await readTurn(started, end, text);
  } catch (error) {
    if (isBeyondReading(error)) return failed(null, text, invalid(error.message));
    if (!isUnreadable(started, error)) throw error;
    if (end.outcome === 'cancelled')
      return { end: { status: 'cancelled', reply: '[interrupted]' }, result: null, capture: null };
    return failed(null, text, {
      code: 'sandbox_lost',
      message: 'What the repair left could not be read out of the sandbox.',
    });
  }
}

/** Whether what the repair left cannot be read for good; anything else is tried again. */
function isUnreadable({ job }: RepairRun, error: unknown): boolean {
  if (error instanceof RunnerError) return job.failures > 0 || error.status === 404;
  return error instanceof WorkspaceChanged && job.failures > 0;
}

async function readTurn(started: RepairRun, end: JudgedEnd, text: string): Promise<Worked> {
  const { ctx, job, run, thread, repair } = started;
  const read =
    end.outcome === 'completed'
      ? await readReport(ctx, job, run, `${FOLDER}/report.json`)
      : { report: null, fault: null };
  const capture = await captureWorkspace(ctx, thread, repair.files);
  if (end.outcome === 'cancelled')
    return {
      end: { status: 'cancelled', reply: text ? `${text}\n\n[interrupted]` : '[interrupted]' },
      result: null,
      capture,
    };
  if (end.outcome === 'failed')
    return failed(capture, text, {
      code: end.error?.code ?? 'agent_error',
      message: end.timedOut
        ? 'The repair took longer than an hour.'
        : clean(end.error?.message ?? 'The agent failed.').slice(0, 4000),
    });
  return judge(started, { text, capture, ...read });
}

/** Judges a turn that ended well: resolved, unresolved, or no candidate after all. */
async function judge(
  started: RepairRun,
  {
    text,
    capture,
    report,
    fault,
  }: { text: string; capture: Capture; report: Repair['report']; fault: string | null },
): Promise<Worked> {
  if (capture.fault !== null) {
    return failed(capture, text, invalid(capture.fault), report);
  }
  const end: RunEnd = { status: 'completed', reply: text || 'Done.', warnings: capture.warnings };
  const fingerprint = sourceSha256(capture.tree);
  const result: RepairResult = { error: null, report, fingerprint, candidate: null };
  if (report === null) return { end, result: { ...result, error: `invalid_report: ${fault}` }, capture };
  if (report.status === 'unresolved') return { end, result, capture };
  const error = await faultOf(started, capture, report);
  if (error !== null) return { end, result: { ...result, error }, capture };
  const { ctx, thread } = started;
  const staged = await stageCapture(ctx, thread, capture, thread.latest_source_id);
  return { end, result: { ...result, candidate: { tree: capture.tree, staged } }, capture };
}

/** Why what a repair left is no candidate, whatever its report says; null for a candidate. */
async function faultOf(
  { ctx, thread, repair }: RepairRun,
  { tree }: Capture,
  report: NonNullable<Repair['report']>,
): Promise<string | null> {
  const changed = changedElsewhere(repair.files, tree, repair.conflicts);
  const marked = await leftMarkers(ctx, thread, repair, { captured: tree, changed });
  if (marked.length) return `conflict_markers: Conflict markers are left in ${shown(marked)}.`;
  const silent = unnamed(changed, report);
  if (silent.length)
    return `undeclared_changes: Not in conflict, but changed without a word in the report: ${shown(silent)}. Put it back, or name it in the summary or a check.`;
  return null;
}

const invalid = (fault: string): NonNullable<RunEnd['error']> => ({
  code: 'invalid_result',
  message: `The result breaks a rule for sources: ${fault}`,
});

const shown = (paths: string[]) =>
  `${paths.slice(0, SHOWN).join(', ')}${paths.length > SHOWN ? ` and ${paths.length - SHOWN} more` : ''}`;

function failed(
  capture: Capture | null,
  text: string,
  error: NonNullable<RunEnd['error']>,
  report: Repair['report'] = null,
): Worked {
  return {
    end: {
      status: 'failed',
      reply: text || error.message,
      error,
      ...(capture ? { warnings: capture.warnings } : {}),
    },
    result: {
      error: `${error.code}: ${error.message}`,
      report,
      fingerprint: capture && sourceSha256(capture.tree),
      candidate: null,
    },
    capture,
  };
}
