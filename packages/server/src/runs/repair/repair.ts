/**
 * A run that repairs the conflicts of an apply. It starts from files that are no source, and what it leaves
 * is none: the apply decides on it and publishes it. This domain works the run; what an attempt is and what
 * becomes of its end is told by `Repairs`.
 *
 *   workspace at the draft --> put to the attempt's files --> turn --> captured, report read --> run ended
 *   with its result --> back to the draft
 */
import { RunnerError } from '@headrace/runner/client';
import type { Context } from '../../context.ts';
import { clean } from '../../db/clean-text.ts';
import type { Repair, RunRow, ThreadRow } from '../../db/schema.ts';
import type { Tx } from '../../db/transaction.ts';
import type { Job } from '../../jobs/job.ts';
import { loadTree } from '../../sources/index.ts';
import { sourceSha256 } from '../../trees/manifest.ts';
import type { Staged } from '../../sources/index.ts';
import type { Tree } from '../../trees/tree.ts';
import type { LoadedThread } from '../../threads/index.ts';
import {
  captureWorkspace,
  packPatch,
  recordWorkspaceSource,
  stageCapture,
  WorkspaceChanged,
} from '../../workspaces/index.ts';
import type { Capture } from '../../workspaces/index.ts';
import type { Holder } from '../../runner/await-runner.ts';
import type { RunEnd } from '../finish-run.ts';
import type { JudgedEnd } from '../model-failure.ts';
import { changedBeside, unnamed } from './changes.ts';
import { leftMarkers } from './markers.ts';
import { readReport } from './report.ts';

/** The folder of what a repair finds and reports; never part of a source. */
const FOLDER = '.hoplite/repair';
/** Paths that an error names. */
const SHOWN = 10;

export interface Evidence {
  path: string;
  content: string;
  encoding: 'utf8' | 'base64';
}

/**
 * What a repair starts from. The same for every worker that takes the run: it is made of sources that never
 * change.
 */
export interface Attempt {
  /** The clean merge; what is in conflict as in the draft. */
  files: Tree;
  /** Contents of it that the project does not have, by SHA-256. */
  made: ReadonlyMap<string, Buffer>;
  evidence: Evidence[];
  /** What it is to resolve. */
  conflicts: string[];
  /** Those of them in which a conflict marker is left over, not somebody's text. */
  unmarked: string[];
}

export interface RepairResult {
  /** Why it is no candidate; null for one, and for a report that says unresolved. */
  error: string | null;
  report: Repair['report'];
  /** SHA-256 of the files it left; null when they could not be read. */
  fingerprint: string | null;
  /** What may be applied. */
  candidate: { tree: Tree; staged: Staged } | null;
}

/** The domain of applies, which this one does not know. */
export interface Repairs {
  attempt(ctx: Context, run: RunRow): Promise<Attempt>;
  /** In the transaction that ends the run. `result` is null when it was stopped. */
  ended(tx: Tx, loaded: LoadedThread, run: RunRow, result: RepairResult | null): Promise<void>;
}

/**
 * Puts a workspace that holds the draft to the attempt's files, without what an earlier one left. Does so
 * again after a worker that died at it.
 */
export async function beginAttempt(
  ctx: Context,
  job: Holder,
  thread: ThreadRow,
  { files, made }: Attempt,
): Promise<void> {
  // From here it holds no source: who finds it so, after whatever end, puts it back.
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
 * Puts it back to the draft, whatever the repair came to: also one that somebody else ended. No task may
 * live in it.
 */
export async function endAttempt(
  ctx: Context,
  job: Holder,
  thread: ThreadRow,
  { files }: Attempt,
): Promise<void> {
  if (!(await ctx.runner.workspaceExists(thread.id))) return;
  const { tree } = await captureWorkspace(ctx, thread, files);
  await ctx.runner.patch(
    thread.id,
    await packPatch(ctx, {
      projectId: thread.project_id,
      from: tree,
      to: await draftOf(ctx, thread),
      remove: [FOLDER],
    }),
    job.claimedAt,
  );
  await recordWorkspaceSource(ctx, job, thread.id, thread.latest_source_id);
}

/** An apply keeps a thread's latest source as it is: the draft. */
async function draftOf(ctx: Context, thread: ThreadRow): Promise<Tree> {
  return thread.latest_source_id === null ? new Map() : loadTree(ctx, thread.latest_source_id);
}

export interface Worked {
  end: RunEnd;
  result: RepairResult | null;
  /** Null when the workspace could not be read. */
  capture: Capture | null;
}

/** How its agent's turn ended: by itself, or, by a code for its run, with its sandbox. */
export interface RepairTurn {
  end: JudgedEnd | 'sandbox_lost' | 'worker_lost';
  text: string;
}

/** What a repair's turn came to. Throws what is to be tried again. */
export async function whatRepairMade(
  ctx: Context,
  job: Job,
  run: RunRow,
  thread: ThreadRow,
  attempt: Attempt,
  { end, text }: RepairTurn,
): Promise<Worked> {
  if (typeof end === 'string')
    return failed(null, text, { code: end, message: 'The sandbox of this repair was lost.' });
  try {
    const read =
      end.outcome === 'completed'
        ? await readReport(ctx, job, run, `${FOLDER}/report.json`)
        : { report: null, fault: null };
    const capture = await captureWorkspace(ctx, thread, attempt.files);
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
    return await judged(ctx, thread, attempt, text, capture, read);
  } catch (error) {
    const isSandboxs = error instanceof WorkspaceChanged || error instanceof RunnerError;
    if (!isSandboxs || (job.failures === 0 && (error as RunnerError).status !== 404)) throw error;
    if (end.outcome === 'cancelled')
      return { end: { status: 'cancelled', reply: '[interrupted]' }, result: null, capture: null };
    return failed(null, text, {
      code: 'sandbox_lost',
      message: 'What the repair left could not be read out of the sandbox.',
    });
  }
}

/** A turn that ended well: resolved, unresolved, or no candidate after all. */
async function judged(
  ctx: Context,
  thread: ThreadRow,
  attempt: Attempt,
  text: string,
  capture: Capture,
  { report, fault }: { report: Repair['report']; fault: string | null },
): Promise<Worked> {
  const end: RunEnd = { status: 'completed', reply: text || 'Done.', warnings: capture.warnings };
  const result: RepairResult = {
    error: null,
    report,
    fingerprint: sourceSha256(capture.tree),
    candidate: null,
  };
  const refused = (error: string): Worked => ({ end, result: { ...result, error }, capture });
  if (capture.fault !== null)
    return {
      ...failed(
        capture,
        text,
        { code: 'invalid_result', message: `The result breaks a rule for sources: ${capture.fault}` },
        report,
      ),
      capture,
    };
  if (report === null) return refused(`invalid_report: ${fault}`);
  if (report.status === 'unresolved') return { end, result, capture };
  const changed = changedBeside(attempt.files, capture.tree, attempt.conflicts);
  const marked = await leftMarkers(ctx, thread, attempt, capture.tree, changed);
  if (marked.length) return refused(`conflict_markers: Conflict markers are left in ${shown(marked)}.`);
  const silent = unnamed(changed, report);
  if (silent.length)
    return refused(
      `undeclared_changes: Not in conflict, but changed without a word in the report: ${shown(silent)}. Put it back, or name it in the summary or a check.`,
    );
  return {
    end,
    result: {
      ...result,
      candidate: {
        tree: capture.tree,
        staged: await stageCapture(ctx, thread, capture, thread.latest_source_id),
      },
    },
    capture,
  };
}

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
