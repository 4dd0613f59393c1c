/**
 * What stands in a workspace and in no source: of a run that an archive cut off, or of a process that
 * outlived its command.
 */
import { RunnerError } from '@headrace/runner/client';
import { recordCheckpoint } from '../checkpoints/index.ts';
import type { Context } from '../context.ts';
import type { ThreadRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { insertSource } from '../sources/index.ts';
import type { Staged } from '../sources/index.ts';
import type { Tree } from '../trees/tree.ts';
import { setWorkspaceSource } from '../threads/index.ts';
import type { LoadedThread } from '../threads/index.ts';
import { captureWorkspace, stageCapture } from './capture-workspace.ts';

export interface Unsaved {
  tree: Tree;
  /** False where the files break a rule for sources, and where they are a repair's. */
  isSource: boolean;
  /** Its new contents; null where all of them are known. */
  staged: Staged;
  /** The source that the workspace stood at when it was read. */
  at: string | null;
}

/** The source that a workspace was last brought to; after an archive cut its work off, its latest one. */
const baseOf = (thread: ThreadRow) => thread.workspace_source_id ?? thread.latest_source_id;

/**
 * The runner refused to read a workspace for good: it holds far more than a source may. Nothing of it can
 * be kept then.
 */
export const isBeyondReading = (error: unknown): boolean =>
  error instanceof RunnerError && error.status === 413;

/** Reads what a thread's workspace holds beyond its source; null when nothing. */
export async function readUnsaved(ctx: Context, thread: ThreadRow): Promise<Unsaved | null> {
  const capture = await captureWorkspace(ctx, thread, baseOf(thread));
  if (capture.isUnchanged) return null;
  const isSource = capture.fault === null && !(await isOfRepair(ctx, thread));
  return {
    tree: capture.tree,
    isSource,
    staged: isSource ? await stageCapture(ctx, thread, capture, baseOf(thread)) : null,
    at: thread.workspace_source_id,
  };
}

/** A repair was cut off in it: what it made is published by its apply or not at all. */
async function isOfRepair(ctx: Context, thread: ThreadRow): Promise<boolean> {
  if (thread.workspace_source_id !== null) return false;
  const last = await ctx.db
    .selectFrom('runs')
    .select('kind')
    .where('thread_id', '=', thread.id)
    .where('started_at', 'is not', null)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return last?.kind === 'repair';
}

/**
 * Keeps it as a `recovery` source with a checkpoint. The workspace stands at that source from then on:
 * nothing is kept twice, also by a worker that comes back when another has done its work.
 */
export async function keepUnsaved(tx: Tx, loaded: LoadedThread, unsaved: Unsaved): Promise<string | null> {
  if (!unsaved.isSource) return null;
  const { thread, project } = loaded;
  if (thread.workspace_source_id !== unsaved.at) throw new Error('what a workspace holds was kept meanwhile');
  const base = baseOf(thread);
  const source = await insertSource(tx, project, {
    tree: unsaved.tree,
    parents: base === null ? [] : [base],
    origin: 'recovery',
    threadId: thread.id,
    runId: null,
    message: null,
    staged: unsaved.staged,
  });
  await recordCheckpoint(tx, loaded, { sourceId: source.id, kind: 'recovery', runId: null });
  await setWorkspaceSource(tx, thread.id, source.id);
  return source.id;
}
