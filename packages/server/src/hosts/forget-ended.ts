import type { HostClient } from '@headrace/runner/client';
import type { HostStatus } from '@headrace/runner/host/protocol';
import type { Context } from '../context.ts';
import { transaction } from '../db/transaction.ts';
import { enqueueUnlessWaiting } from '../jobs/enqueue.ts';
import type { KnownHost } from './authenticate-host.ts';

interface Told {
  host: Pick<KnownHost, 'id' | 'org_id'>;
  client: HostClient;
}

/**
 * Has a host end what came to its end while it was away: tasks whose run is not under way any more, and worktrees of
 * threads that were deleted. Those of archived threads are kept until their files are saved.
 */
export async function forgetEnded(
  ctx: Context,
  { host, client }: Told,
  { tasks, workspaces }: Pick<HostStatus, 'tasks' | 'workspaces'>,
): Promise<void> {
  const active = await activeAmong(
    ctx,
    host,
    tasks.map(({ id }) => id),
  );
  for (const { id } of tasks) if (!active.has(id)) await client.deleteTask(id);
  const threads = await threadsAmong(ctx, host, workspaces);
  for (const id of workspaces) {
    const thread = threads.get(id);
    if (!thread || thread.deleted_at || thread.workspace_status === 'archived')
      await client.deleteWorkspace(id);
    else if (thread.workspace_status === 'cleanup_pending')
      await transaction(ctx, (tx) =>
        enqueueUnlessWaiting(
          tx,
          'workspace.archive',
          { threadId: id },
          { key: `thread:${id}`, turnOf: thread },
        ),
      );
  }
}

async function activeAmong(ctx: Context, host: Told['host'], ids: string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const rows = await ctx.db
    .selectFrom('runs')
    .select('id')
    .where('id', 'in', ids)
    .where('org_id', '=', host.org_id)
    .where('status', 'in', ['running', 'waiting'])
    .execute();
  return new Set(rows.map(({ id }) => id));
}

async function threadsAmong(ctx: Context, host: Told['host'], ids: string[]) {
  if (ids.length === 0) return new Map();
  const rows = await ctx.db
    .selectFrom('threads')
    .select(['id', 'org_id', 'project_id', 'deleted_at', 'workspace_status'])
    .where('id', 'in', ids)
    .where('org_id', '=', host.org_id)
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
}
