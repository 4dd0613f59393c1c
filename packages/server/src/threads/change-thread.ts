import { sql } from 'kysely';
import type { ThreadRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { appendEvent } from '../db/transaction.ts';
import { scopeOf } from '../projects/index.ts';
import { followSource } from '../pull-requests/index.ts';
import type { LoadedThread } from './policy.ts';
import { threadStatus } from './state.ts';
import { threadWork, writeThread } from './store.ts';
import type { ThreadChange } from './store.ts';

/** When a change is published; a deletion as `thread.deleted`, all else as `thread.updated`. */
type Publish = 'always' | 'ifChanged' | 'asDeleted';

/**
 * Writes a change to a locked thread, computes its status, and publishes it. Changes of the title, the
 * archive state and other fields that clients see are published always, others only with a new status.
 * `version` and the event move together. Returns the new row.
 */
export async function changeThread(
  tx: Tx,
  { thread, project }: LoadedThread,
  change: ThreadChange,
  publish: Publish = 'ifChanged',
): Promise<ThreadRow> {
  const work = await threadWork(tx.db, thread.id);
  const status = threadStatus({ ...thread, ...(change as Partial<ThreadRow>) }, work);
  const isPublished = publish !== 'ifChanged' || status !== thread.status;
  if (!isPublished && Object.keys(change).length === 0) return thread;
  const row = await writeThread(tx, thread.id, {
    ...change,
    status,
    updated_at: sql<Date>`now()`,
    ...(isPublished ? { version: sql<number>`version + 1` } : {}),
  });
  // Previews show the latest source, and pull requests have it.
  const isMoved = row.latest_source_id !== thread.latest_source_id;
  if (isMoved) tx.wake('control', row.id);
  if (project.repository_id !== null && (isMoved || isFreed(thread, row))) await followSource(tx, row.id);
  if (isPublished) {
    const type = publish === 'asDeleted' ? 'thread.deleted' : 'thread.updated';
    appendEvent(tx, { ...scopeOf(project), threadId: row.id }, type, { id: row.id, status: row.status });
  }
  return row;
}

/** Whether its work has ended: what waits for an idle thread goes on. */
const isFreed = (before: ThreadRow, now: ThreadRow): boolean =>
  (before.active_exec_id !== null && now.active_exec_id === null) ||
  (before.active_build_id !== null && now.active_build_id === null) ||
  (before.status !== now.status && (now.status === 'ready' || now.status === 'failed'));
