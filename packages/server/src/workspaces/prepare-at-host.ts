/**
 * The workspace of a thread at a host: a bound folder itself, or a worktree of it. Its files are a person's, so it is not
 * put back after work that failed, and a folder is never written.
 */
import { RunnerError } from '@headrace/runner/client';
import type { Context } from '../context.ts';
import type { ThreadRow } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import { forgetEnded } from '../hosts/index.ts';
import type { Holder } from '../runner/await-runner.ts';
import { loadTree, sameTree } from '../sources/index.ts';
import { changeThread, lockThreadById } from '../threads/index.ts';
import type { Tree } from '../trees/tree.ts';
import { captureWorkspace } from './capture-workspace.ts';
import { changeWorkspace } from './change-workspace.ts';
import { packPatch } from './pack-patch.ts';
import { recordWorkspaceSource, wantedSource } from './prepare-workspace.ts';
import { keepUnsaved, readUnsaved } from './save-workspace.ts';

/** Why a host does not prepare a workspace: another attempt is in vain. */
export class HostRefused extends Error {
  readonly code: 'binding_not_found' | 'worktree_failed';

  constructor(code: HostRefused['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

const branchOf = (threadId: string) => `headrace/${threadId.slice(-6)}`;

/** Has the host prepare the workspace, which changes nothing where it is there. Throws HostRefused. */
export async function makeAtHost(
  { db, host }: Context,
  { claimedAt }: Pick<Holder, 'claimedAt'>,
  threadId: string,
): Promise<{ wasThere: boolean; headCommit: string | null }> {
  const { target, client } = host!;
  const binding = await db
    .selectFrom('bindings')
    .select('name')
    .where('host_id', '=', target.hostId)
    .where('id', '=', target.bindingId)
    .executeTakeFirst();
  if (!binding) throw new HostRefused('binding_not_found', 'The host does not offer this folder any more.');
  const wasThere = await client.workspaceExists(threadId).catch((error: unknown) => {
    if (error instanceof RunnerError && error.status === 404) return false;
    throw error;
  });
  try {
    const wanted = { binding: binding.name, mode: target.workspaceMode, branch: branchOf(threadId) };
    const { headCommit } = await client.prepare(threadId, wanted, claimedAt);
    return { wasThere, headCommit };
  } catch (error) {
    if (error instanceof RunnerError && error.status === 404)
      throw new HostRefused('binding_not_found', 'The host does not offer this folder any more.', {
        cause: error,
      });
    if (error instanceof RunnerError && error.code === 'worktree_failed')
      throw new HostRefused('worktree_failed', error.message, { cause: error });
    throw error;
  }
}

/**
 * Prepares a thread's workspace for its next work, and has a worktree hold what the thread has, where that is not what the
 * host's last work left: the files of a checkpoint, or others' commits. Undefined where the thread was deleted or archived.
 */
export async function prepareAtHost(
  ctx: Context,
  job: Holder,
  threadId: string,
  restored?: string,
): Promise<ThreadRow | undefined> {
  const { wasThere } = await makeAtHost(ctx, job, threadId);
  await endTasksAtHost(ctx, threadId);
  const thread = await beReady(ctx, job, threadId);
  if (!thread || ctx.host!.target.workspaceMode === 'direct') return thread;
  if (!wasThere) return bringWorktree(ctx, job, thread, restored ?? (await wantedAtHost(ctx, thread)));
  const saved = thread.workspace_source_id === null ? await keepCutOff(ctx, job, thread) : thread;
  const wanted = restored ?? (await wantedAtHost(ctx, saved));
  return wanted === saved.workspace_source_id || wanted === null
    ? saved
    : bringWorktree(ctx, job, saved, wanted);
}

/** The work of a failed run is gone on from, as the folder still has it, unless a newer source came meanwhile. */
const wantedAtHost = (ctx: Context, thread: ThreadRow): Promise<string | null> =>
  wantedSource(ctx, thread, true);

/** Ends the tasks in the thread's folder whose runs have ended while their host was away. */
async function endTasksAtHost(ctx: Context, threadId: string): Promise<void> {
  const { client, target } = ctx.host!;
  const thread = await ctx.db
    .selectFrom('threads')
    .select('org_id')
    .where('id', '=', threadId)
    .executeTakeFirst();
  const { tasks } = await client.hostStatus();
  if (thread && tasks.length > 0)
    await forgetEnded(
      ctx,
      { host: { id: target.hostId, org_id: thread.org_id }, client },
      { tasks, workspaces: [] },
    );
}

async function beReady(ctx: Context, job: Holder, threadId: string): Promise<ThreadRow | undefined> {
  return transaction(ctx, async (tx) => {
    await job.fence(tx);
    const now = await lockThreadById(tx, threadId);
    if (!now || now.thread.archived_at) return undefined;
    let { thread } = now;
    if (thread.workspace_status === 'ready') return thread;
    if (thread.workspace_status !== 'preparing')
      thread = await changeWorkspace(tx, { ...now, thread }, { event: 'prepare', reason: 'run' });
    return changeWorkspace(
      tx,
      { ...now, thread },
      {
        event: 'restore',
        reason: 'run',
        sourceId: thread.latest_source_id,
        change: { idle_expires_at: null },
      },
    );
  });
}

/** What work left that was cut off is kept, and gone on from. */
async function keepCutOff(ctx: Context, job: Holder, thread: ThreadRow): Promise<ThreadRow> {
  const unsaved = await readUnsaved(ctx, thread);
  return transaction(ctx, async (tx) => {
    await job.fence(tx);
    const now = await lockThreadById(tx, thread.id);
    if (!now) return thread;
    const kept = unsaved ? await keepUnsaved(tx, now, unsaved) : now.thread.latest_source_id;
    if (kept === null) return now.thread;
    return changeThread(tx, now, {
      workspace_source_id: kept,
      ...(unsaved ? { lost_work_source_id: kept } : {}),
    });
  });
}

/** Writes the files that differ into a worktree. */
async function bringWorktree(
  ctx: Context,
  job: Holder,
  thread: ThreadRow,
  sourceId: string | null,
): Promise<ThreadRow> {
  const to: Tree = sourceId === null ? new Map() : await loadTree(ctx, sourceId);
  const { tree: from, strays } = await captureWorkspace(ctx, thread, to);
  if (!sameTree(from, to))
    await ctx.runner.patch(
      thread.id,
      await packPatch(ctx, { projectId: thread.project_id, from, to, removeBytes: strays }),
      job.claimedAt,
    );
  return recordWorkspaceSource(ctx, job, thread.id, sourceId);
}
