import { sql } from 'kysely';
import type { ProjectRow, ThreadRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { appendEvent } from '../db/transaction.ts';
import { scopeOf } from '../projects/index.ts';
import { threadStatus } from './state.ts';
import { threadWork, writeThread } from './store.ts';
import type { ThreadChange } from './store.ts';

/**
 * Writes a change to a locked thread, recomputes its status, and publishes `thread.updated`: `always` (also
 * for a change of title, archive state, project or configuration), or only when the status changed
 * (`ifChanged`). `version` and the event always move together. Returns the new row.
 */
export async function changeThread(
  tx: Tx,
  { thread, project }: { thread: ThreadRow; project: ProjectRow },
  change: ThreadChange,
  publish: 'always' | 'ifChanged' = 'ifChanged',
  type: 'thread.updated' | 'thread.deleted' = 'thread.updated',
): Promise<ThreadRow> {
  const work = await threadWork(tx.db, thread.id);
  const status = threadStatus({ ...thread, ...(change as Partial<ThreadRow>) }, work);
  const isPublished = publish === 'always' || status !== thread.status;
  if (!isPublished && Object.keys(change).length === 0) return thread;
  const row = await writeThread(tx, thread.id, {
    ...change,
    status,
    updated_at: sql<Date>`now()`,
    ...(isPublished ? { version: sql<number>`version + 1` } : {}),
  });
  // Previews follow it.
  if (row.latest_source_id !== thread.latest_source_id) tx.wake('control', row.id);
  if (isPublished)
    appendEvent(tx, scopeOf(project), type, { id: row.id, status: row.status }, { threadId: row.id });
  return row;
}
