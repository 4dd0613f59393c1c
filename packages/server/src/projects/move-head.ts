import type { ProjectRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { appendEvent } from '../db/transaction.ts';
import { scopeOf } from './policy.ts';
import { insertHeadRevision, setHead } from './store.ts';

/**
 * Moves a locked project's head by one revision and records it in the history; publishes
 * `platform.head.updated`. `applyId` is null for its initialization. The project's `version` stays: only
 * `head_revision` counts heads.
 */
export async function moveHead(
  tx: Tx,
  project: ProjectRow,
  sourceId: string,
  applyId: string | null,
): Promise<ProjectRow> {
  const moved = await setHead(tx, project, sourceId);
  await insertHeadRevision(tx, moved, applyId);
  appendEvent(tx, scopeOf(moved), 'platform.head.updated', {
    id: moved.id,
    sourceId,
    revision: moved.head_revision,
  });
  return moved;
}
