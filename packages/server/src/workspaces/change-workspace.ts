import type { ThreadRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { appendEvent } from '../db/transaction.ts';
import { newId } from '../ids.ts';
import { scopeOf } from '../projects/index.ts';
import { changeThread } from '../threads/index.ts';
import type { LoadedThread, ThreadChange } from '../threads/index.ts';
import { workspaceChange } from './state.ts';
import type { WorkspaceEvent } from './state.ts';
import { insertRecord } from './store.ts';

interface WorkspaceStep {
  event: WorkspaceEvent;
  /** For the history. */
  reason: string;
  runId?: string | null;
  /** The source that was restored or saved. */
  sourceId?: string | null;
  /** Further columns of the thread. */
  change?: ThreadChange;
}

/**
 * Changes the status of a locked thread's workspace: writes one record, publishes one event with its id
 * (`workspace.recovery.updated`), then changes the thread.
 */
export async function changeWorkspace(
  tx: Tx,
  { thread, project }: LoadedThread,
  { event, reason, runId = null, sourceId = null, change }: WorkspaceStep,
): Promise<ThreadRow> {
  const { from, to, setup } = workspaceChange(event);
  if (!from.includes(thread.workspace_status))
    throw new Error(`a workspace that is ${thread.workspace_status} does not take '${event}'`);
  const record = newId('wsr');
  await insertRecord(tx, {
    org_id: thread.org_id,
    id: record,
    thread_id: thread.id,
    run_id: runId,
    from_status: thread.workspace_status,
    to_status: to,
    reason,
    source_id: sourceId,
  });
  appendEvent(tx, { ...scopeOf(project), threadId: thread.id, runId }, 'workspace.recovery.updated', {
    id: record,
  });
  return changeThread(
    tx,
    { thread, project },
    {
      workspace_status: to,
      ...(setup ? { workspace_setup_status: setup } : {}),
      // Failed attempts to end it count until it is ended, or used again.
      ...(event === 'detach' ? {} : { workspace_failures: 0, workspace_retry_at: null }),
      ...change,
    },
  );
}

/** Its runner was replaced, and what that held is gone. */
export async function vanishWorkspace(tx: Tx, loaded: LoadedThread): Promise<ThreadRow> {
  return changeWorkspace(tx, loaded, {
    event: 'vanish',
    reason: 'the runtime vanished',
    sourceId: loaded.thread.latest_source_id,
    change: { idle_expires_at: null },
  });
}

/**
 * Gives up a restore: the next run or command tries again. Without effect where the workspace is not being
 * restored.
 */
export async function giveUpRestore(tx: Tx, loaded: LoadedThread, runId: string | null): Promise<ThreadRow> {
  if (loaded.thread.workspace_status !== 'preparing') return loaded.thread;
  return changeWorkspace(tx, loaded, { event: 'fail', reason: 'it could not be restored', runId });
}
