import type { Db } from '../db/database.ts';
import type { PreviewRow, ProjectRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { notFound } from '../http/errors.ts';
import type { Call } from '../http/operation.ts';
import { loadProject } from '../projects/index.ts';
import { findProjectPreview } from './store.ts';

/**
 * The preview and the app that the path names; a preview outlives its thread. 404 where the caller may not
 * see either.
 */
export async function loadPreview(
  db: Db | Tx['db'],
  call: Pick<Call, 'principal' | 'api' | 'params'>,
): Promise<{ preview: PreviewRow; project: ProjectRow }> {
  const project = await loadProject(db, call);
  const preview = await findProjectPreview(db, project.id, call.params.previewId!);
  if (!preview) throw notFound('preview');
  return { preview, project };
}
