import type { Context } from '../context.ts';
import type { ProjectRow } from '../db/schema.ts';
import { appendEvent, transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import type { Job } from '../jobs/job.ts';
import { scopeOf } from '../projects/index.ts';
import type { LoadedThread } from '../threads/index.ts';
import type { PreviewError } from './schemas.ts';
import { findOpenOf, movePreview } from './store.ts';
import type { PreviewNow } from './store.ts';

type PreviewChange = { event: 'listen' | 'move' | 'stop' } | { event: 'fail'; error: PreviewError };

/** Moves a preview on and publishes that; does nothing where its status does not allow it. */
export async function changePreview(
  tx: Tx,
  project: Pick<ProjectRow, 'org_id' | 'id' | 'kind'>,
  previewId: string,
  change: PreviewChange,
): Promise<void> {
  const error = change.event === 'fail' ? change.error : undefined;
  const row = await movePreview(tx, previewId, change.event, error);
  if (!row) return;
  appendEvent(tx, { ...scopeOf(project), threadId: row.thread_id }, 'preview.updated', {
    id: row.id,
    status: row.status,
  });
  tx.wake('control', row.id);
}

/** As `changePreview`, by the job that has the preview. */
export async function changeFenced(
  ctx: Context,
  job: Job,
  preview: PreviewNow,
  change: PreviewChange,
): Promise<void> {
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    await changePreview(tx, projectOf(preview), preview.id, change);
  });
}

export const projectOf = (p: PreviewNow): Pick<ProjectRow, 'org_id' | 'id' | 'kind'> => ({
  id: p.project_id,
  org_id: p.org_id,
  kind: p.project_kind,
});

/** Stops the open previews of a locked thread: at its archive or deletion. */
export const stopThreadPreviews = (tx: Tx, { thread, project }: LoadedThread): Promise<void> =>
  stopAll(tx, project, thread.id);

/** Stops the open previews without a thread of a locked project: at its deletion. */
export const stopAppPreviews = (tx: Tx, project: ProjectRow): Promise<void> => stopAll(tx, project, null);

async function stopAll(tx: Tx, project: ProjectRow, threadId: string | null): Promise<void> {
  for (const id of await findOpenOf(tx, { projectId: project.id, threadId }))
    await changePreview(tx, project, id, { event: 'stop' });
}
