/**
 * Saves the files of a workspace that are in no source: those of a run that an archive cut off, or of a
 * process that outlived its command.
 */
import { RunnerError } from '@headrace/runner/client';
import { baseAtSource, recordCheckpoint } from '../checkpoints/index.ts';
import type { Context } from '../context.ts';
import type { ThreadRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { insertSource, loadTree, sameTree } from '../sources/index.ts';
import type { Staged } from '../sources/index.ts';
import type { Tree } from '../trees/tree.ts';
import { setWorkspaceSource } from '../threads/index.ts';
import type { LoadedThread } from '../threads/index.ts';
import { captureWorkspace, stageCapture } from './capture-workspace.ts';
import type { Capture, Present } from './capture-workspace.ts';

export interface Unsaved {
  present: Present;
  /**
   * What becomes a source, with the contents that the project does not have (null for none). Null where a
   * source can hold nothing of it that is new, and for a repair's files.
   */
  source: { tree: Tree; staged: Staged } | null;
  /** The source of the workspace when it was read. */
  at: string | null;
}

/** The source that a workspace was last reset to; the latest one after an archive cut its work off. */
const baseOf = (thread: ThreadRow) => thread.workspace_source_id ?? thread.latest_source_id;

/**
 * Whether the runner refuses to read a workspace, however often it is asked: it holds far more than a source
 * may, or patterns that take too long. Nothing of it can be kept then.
 */
export const isBeyondReading = (error: unknown): error is RunnerError =>
  error instanceof RunnerError && error.status === 413;

/** Reads the files of a thread's workspace; null when they equal its source. */
export async function readUnsaved(ctx: Context, thread: ThreadRow): Promise<Unsaved | null> {
  const capture = await captureWorkspace(ctx, thread, baseOf(thread));
  if (capture.isUnchanged) return null;
  const tree = (await isOfRepair(ctx, thread)) ? null : capture.held;
  return {
    present: capture,
    source:
      tree && !(await isKept(ctx, thread, tree)) ? await staged(ctx, thread, { ...capture, tree }) : null,
    at: thread.workspace_source_id,
  };
}

const staged = async (
  ctx: Context,
  thread: ThreadRow,
  capture: Pick<Capture, 'tree' | 'below'>,
): Promise<Unsaved['source']> => ({
  tree: capture.tree,
  staged: await stageCapture(ctx, thread, capture, baseOf(thread)),
});

/**
 * Whether the end of a run kept these files: its worker died before it removed what no source can hold.
 */
async function isKept(ctx: Context, thread: ThreadRow, tree: Tree): Promise<boolean> {
  const last = await ctx.db
    .selectFrom('checkpoints')
    .select('source_id')
    .where('thread_id', '=', thread.id)
    .where('kind', '=', 'recovery')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return last !== undefined && sameTree(await loadTree(ctx, last.source_id), tree);
}

/** Whether a repair was cut off in the workspace: only its apply may publish what it made. */
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
 * Keeps the files as a `recovery` source with a checkpoint, and records that source as the workspace's.
 * So nothing is kept twice, not even by a worker that comes back after another has done its work.
 */
export async function keepUnsaved(tx: Tx, loaded: LoadedThread, unsaved: Unsaved): Promise<string | null> {
  if (!unsaved.source) return null;
  const { thread, project } = loaded;
  if (thread.workspace_source_id !== unsaved.at) throw new Error('what a workspace holds was kept meanwhile');
  const base = baseOf(thread);
  const source = await insertSource(tx, project, {
    ...unsaved.source,
    parents: base === null ? [] : [base],
    origin: 'recovery',
    threadId: thread.id,
    runId: null,
    message: null,
  });
  await recordCheckpoint(tx, loaded, {
    sourceId: source.id,
    kind: 'recovery',
    runId: null,
    baseCommitSha: await baseCommitOf(tx, thread),
  });
  await setWorkspaceSource(tx, thread.id, source.id);
  return source.id;
}

/** The thread may have moved to another base since: its workspace stays behind until it is used. Null: unknown. */
async function baseCommitOf(tx: Tx, thread: ThreadRow): Promise<string | null> {
  const { workspace_source_id: held, latest_source_id: latest } = thread;
  const isLatest = held === null ? thread.archived_at !== null : held === latest;
  return isLatest ? thread.base_commit_sha : baseAtSource(tx.db, thread.id, held);
}
