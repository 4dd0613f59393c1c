/**
 * A preview's states. The row decides: the sandbox follows it, and the proxy serves by it.
 *
 *   starting --something listens on its port--> ready
 *   starting, ready --the command ended, the sandbox was lost, 60 s without a listener--> failed
 *   starting, ready --life over, thread archived or deleted, app deleted--> stopped
 *   starting, ready, failed --DELETE--> stopped
 */
import type { PreviewRow, ProjectRow } from '../db/schema.ts';
import { appendEvent } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { scopeOf } from '../projects/index.ts';
import type { LoadedThread } from '../threads/index.ts';
import type { PreviewError } from './schemas.ts';

const FROM = {
  ready: ['starting'],
  failed: ['starting', 'ready'],
  stopped: ['starting', 'ready', 'failed'],
} as const;

/** Moves a preview on and publishes that; undefined where it stands in no state that leads there. */
export async function changePreview(
  tx: Tx,
  project: Pick<ProjectRow, 'org_id' | 'id' | 'kind'>,
  previewId: string,
  to: keyof typeof FROM,
  error?: PreviewError,
): Promise<PreviewRow | undefined> {
  const row = await tx.db
    .updateTable('previews')
    .set({ status: to, ...(error ? { error_code: error.code, error_message: error.message } : {}) })
    .where('id', '=', previewId)
    .where('status', 'in', FROM[to])
    .returningAll()
    .executeTakeFirst();
  if (!row) return undefined;
  appendEvent(
    tx,
    scopeOf(project),
    'preview.updated',
    { id: row.id, status: row.status },
    { threadId: row.thread_id },
  );
  tx.wake('control', row.id);
  return row;
}

/** Stops what a locked thread still shows: at its archive or deletion. */
export async function stopThreadPreviews(tx: Tx, { thread, project }: LoadedThread): Promise<void> {
  const open = await tx.db
    .selectFrom('previews')
    .select('id')
    .where('thread_id', '=', thread.id)
    .where('status', 'in', ['starting', 'ready'])
    .orderBy('id')
    .execute();
  for (const { id } of open) await changePreview(tx, project, id, 'stopped');
}
