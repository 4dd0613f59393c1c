import type { Context } from '../context.ts';
import type { ThreadRow } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import type { Job } from '../jobs/job.ts';
import { loadTree } from '../sources/index.ts';
import type { Tree } from '../trees/tree.ts';
import { changeThread, lockThreadById, setWorkspaceSource } from '../threads/index.ts';
import { atRunner } from '../runner/at-runner.ts';
import { awaitRunner, endTasks } from '../runner/await-runner.ts';
import type { Holder } from '../runner/await-runner.ts';
import { WorkspaceUnavailable } from '../runner/workspace-unavailable.ts';
import type { Present } from './capture-workspace.ts';
import { changeWorkspace } from './change-workspace.ts';
import { changedLinks, groundOf } from './ground.ts';
import { freshDeadline } from './idle.ts';
import { packPatch } from './pack-patch.ts';
import { restoreWithSetup, setupColumns } from './restore-with-setup.ts';
import { formerPlace, leaveFormer } from './leave-former.ts';
import { isBeyondReading, keepUnsaved, readUnsaved } from './save-workspace.ts';

/** What a workspace is prepared for. */
interface Purpose {
  reason: 'run' | 'exec';
  runId: string | null;
  /** Whether it goes on from the work of a lost run, where there is such work. */
  goesOn?: boolean;
}

const EMPTY: Tree = new Map();

async function treeOf(ctx: Context, sourceId: string | null): Promise<Tree> {
  return sourceId === null ? EMPTY : loadTree(ctx, sourceId);
}

/**
 * The source that the workspace is to hold: the latest one, or the recovery source of a lost run that had begun
 * from that.
 */
export async function wantedSource(
  ctx: Context,
  { latest_source_id: latest, lost_work_source_id: lost }: ThreadRow,
  goesOn = false,
): Promise<string | null> {
  if (!goesOn || lost === null) return latest;
  const { parent_source_ids: parents } = await ctx.db
    .selectFrom('sources')
    .select('parent_source_ids')
    .where('id', '=', lost)
    .executeTakeFirstOrThrow();
  return (parents[0] ?? null) === latest ? lost : latest;
}

/**
 * Makes a thread's workspace hold its latest source: restores it when it is gone, patches it when it holds
 * another source. The caller holds the thread's key, so nothing else touches the workspace. Returns the
 * thread as it is then; undefined when it was deleted or archived, `waits` when its setup is under way: the job
 * is put off until that has ended. Throws WorkspaceUnavailable, or the runner's error.
 */
export async function prepareWorkspace(
  ctx: Context,
  job: Holder & Pick<Job, 'putOff'>,
  threadId: string,
  purpose: Purpose,
): Promise<ThreadRow | 'waits' | undefined> {
  const runnerId = await awaitRunner(ctx);
  const thread = await ctx.db
    .selectFrom('threads')
    .selectAll()
    .where('id', '=', threadId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (!thread || thread.archived_at) return undefined;
  if (thread.latest_source_id === null) await requireFetched(ctx, thread);
  if (
    thread.workspace_status === 'ready' &&
    thread.runner_id === runnerId &&
    (await ctx.runner.workspaceExists(threadId))
  ) {
    try {
      return await bringTo(ctx, job, thread, await wantedSource(ctx, thread, purpose.goesOn));
    } catch (error) {
      if (!isBeyondReading(error)) throw error;
      // Its last saved source counts.
      await ctx.runner.deleteWorkspace(threadId, job.claimedAt);
    }
  }
  const former = thread.workspace_status === 'ready' ? await formerPlace(ctx, thread) : undefined;
  if (former) await leaveFormer(former, job, thread);
  // The end of its runtime was not confirmed. A runner of the fleet that does not answer is told with its next report.
  if (thread.workspace_status === 'cleanup_pending')
    await (
      await atRunner(ctx, thread.runner_id)
    ).runner
      .deleteWorkspace(threadId, job.claimedAt)
      .catch((error: unknown) => {
        if (!ctx.fleet) throw error;
      });
  return restore(ctx, job, threadId, { ...purpose, runnerId });
}

/** Nothing works in an empty workspace in place of a repository whose fetch failed. */
async function requireFetched(ctx: Context, { project_id: id }: ThreadRow): Promise<void> {
  const { repository_id: repositoryId } = await ctx.db
    .selectFrom('projects')
    .select('repository_id')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  if (repositoryId !== null)
    throw new WorkspaceUnavailable('The repository was not fetched. Retry the thread, or send a message.');
}

async function restore(
  ctx: Context,
  job: Holder & Pick<Job, 'putOff'>,
  threadId: string,
  { runnerId, reason, runId, goesOn }: Purpose & { runnerId: string },
): Promise<ThreadRow | 'waits' | undefined> {
  const thread = await beginRestore(ctx, job, threadId, { reason, runId });
  if (!thread) return undefined;
  await endTasks(ctx, job, threadId);
  const restored = await wantedSource(ctx, thread, goesOn);
  const setup = await restoreWithSetup(ctx, job, thread, restored);
  if (setup === undefined || setup === 'waits') return setup;
  return transaction(ctx, async (tx) => {
    await job.fence(tx);
    const now = await lockThreadById(tx, threadId);
    if (!now || now.thread.archived_at || now.thread.workspace_status !== 'preparing') return undefined;
    const deadline = await freshDeadline(ctx, tx.db, now.thread);
    return changeWorkspace(tx, now, {
      event: 'restore',
      reason,
      runId,
      sourceId: restored,
      change: {
        workspace_source_id: restored,
        runner_id: runnerId,
        idle_expires_at: deadline,
        ...setupColumns(setup),
      },
    });
  });
}

/** Marks the workspace as being prepared; first records the end that it came to meanwhile. */
async function beginRestore(
  ctx: Context,
  job: Holder,
  threadId: string,
  { reason, runId }: Purpose,
): Promise<ThreadRow | undefined> {
  return transaction(ctx, async (tx) => {
    await job.fence(tx);
    const now = await lockThreadById(tx, threadId);
    if (!now || now.thread.archived_at) return undefined;
    let { thread } = now;
    if (thread.workspace_status === 'cleanup_pending')
      thread = await changeWorkspace(
        tx,
        { ...now, thread },
        { event: 'archive', reason: 'its end is confirmed', sourceId: thread.latest_source_id },
      );
    if (thread.workspace_status === 'ready')
      thread = await changeWorkspace(
        tx,
        { ...now, thread },
        { event: 'vanish', reason: 'the runtime vanished', runId },
      );
    if (thread.workspace_status !== 'preparing')
      thread = await changeWorkspace(tx, { ...now, thread }, { event: 'prepare', reason, runId });
    // Where it is being made: what reports it from elsewhere is told to forget it.
    return ctx.at ? changeThread(tx, { ...now, thread }, { runner_id: ctx.at.id }) : thread;
  });
}

/**
 * Patches an existing workspace. One whose source is unknown was cut off in the middle of work: its files
 * are kept first.
 */
async function bringTo(
  ctx: Context,
  job: Holder,
  thread: ThreadRow,
  sourceId: string | null,
): Promise<ThreadRow> {
  await endTasks(ctx, job, thread.id);
  if (thread.workspace_source_id === sourceId) return thread;
  if (thread.workspace_source_id !== null) return resetWorkspace(ctx, job, thread, { sourceId });
  const unsaved = await readUnsaved(ctx, thread);
  if (unsaved) {
    await transaction(ctx, async (tx) => {
      await job.fence(tx);
      const now = await lockThreadById(tx, thread.id);
      if (now) await keepUnsaved(tx, now, unsaved);
    });
  }
  const present = unsaved?.present ?? { tree: await treeOf(ctx, thread.latest_source_id), strays: [] };
  return resetWorkspace(ctx, job, thread, { sourceId, present });
}

/**
 * Resets the source files of a workspace to those of a source. Ignored files and dependencies stay.
 * `present` is what was found in the workspace, where that is no source.
 */
export async function resetWorkspace(
  ctx: Context,
  job: Holder,
  thread: ThreadRow,
  { sourceId, present }: { sourceId: string | null; present?: Present },
): Promise<ThreadRow> {
  const from = present?.tree ?? (await treeOf(ctx, thread.workspace_source_id));
  const to = await treeOf(ctx, sourceId);
  const ids = { from: present ? null : thread.workspace_source_id, to: sourceId };
  const links = await changedLinks(ctx, await groundOf(ctx, thread.id), ids, { from, to });
  const patch = await packPatch(ctx, {
    projectId: thread.project_id,
    from,
    to,
    ...(links ? { links } : {}),
    removeBytes: present?.strays ?? [],
  });
  await ctx.runner.patch(thread.id, patch, job.claimedAt);
  return recordWorkspaceSource(ctx, job, thread.id, sourceId);
}

/** Records the source that a workspace holds; null while that is no source, or unknown. */
export async function recordWorkspaceSource(
  ctx: Context,
  job: Holder,
  threadId: string,
  sourceId: string | null,
): Promise<ThreadRow> {
  return transaction(ctx, async (tx) => {
    await job.fence(tx);
    return setWorkspaceSource(tx, threadId, sourceId);
  });
}
