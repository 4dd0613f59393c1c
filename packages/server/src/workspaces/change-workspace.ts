import type { ProjectRow, ThreadRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { appendEvent } from '../db/transaction.ts';
import { newId } from '../ids.ts';
import { scopeOf } from '../projects/index.ts';
import { changeThread } from '../threads/index.ts';
import type { ThreadChange } from '../threads/index.ts';

export type WorkspaceStatus = 'preparing' | 'cancelled' | 'ready' | 'archived' | 'cleanup_pending' | 'error';

/**
 * A locked thread's workspace changes its status: one record and one event with its id, then the thread.
 * `from` null = it had none.
 *
 *   null, archived, error, cancelled → preparing     initialization, or the next run or exec
 *   preparing → ready | error | cancelled            restored | attempts used up | archive or delete
 *   ready → archived | cleanup_pending               saved, and the runtime gone | its end not confirmed
 *   cleanup_pending → archived                       confirmed
 *   ready → error                                    the runtime vanished; the last saved source counts
 */
export async function changeWorkspace(
  tx: Tx,
  { thread, project }: { thread: ThreadRow; project: ProjectRow },
  to: WorkspaceStatus,
  reason: string,
  more: { runId?: string | null; sourceId?: string | null; change?: ThreadChange } = {},
): Promise<ThreadRow> {
  const record = newId('wsr');
  await tx.db
    .insertInto('workspace_records')
    .values({
      org_id: thread.org_id,
      id: record,
      thread_id: thread.id,
      run_id: more.runId ?? null,
      from_status: thread.workspace_status,
      to_status: to,
      reason,
      source_id: more.sourceId ?? null,
    })
    .execute();
  appendEvent(
    tx,
    scopeOf(project),
    'workspace.recovery.updated',
    { id: record },
    { threadId: thread.id, runId: more.runId ?? null },
  );
  // What its end failed at is over, or goes on.
  const isAnew = to !== 'cleanup_pending';
  return changeThread(
    tx,
    { thread, project },
    {
      workspace_status: to,
      ...(isAnew ? { workspace_failures: 0, workspace_retry_at: null } : {}),
      ...more.change,
    },
  );
}

/**
 * ready → error: its runner is another one now, and what the one before held is gone. The last saved source
 * counts.
 */
export async function vanishWorkspace(
  tx: Tx,
  loaded: { thread: ThreadRow; project: ProjectRow },
): Promise<ThreadRow> {
  return changeWorkspace(tx, loaded, 'error', 'the runtime vanished', {
    sourceId: loaded.thread.latest_source_id,
    change: { idle_expires_at: null },
  });
}

/**
 * preparing → error: what it was restored for is given up. The next run or command tries anew. Nothing
 * where it did not come to that.
 */
export async function giveUpRestore(
  tx: Tx,
  loaded: { thread: ThreadRow; project: ProjectRow },
  runId: string | null,
): Promise<ThreadRow> {
  if (loaded.thread.workspace_status !== 'preparing') return loaded.thread;
  return changeWorkspace(tx, loaded, 'error', 'it could not be restored', {
    runId,
    change: { workspace_setup_status: 'failed' },
  });
}
