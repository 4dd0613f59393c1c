import type { ProjectRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { appendEvent } from '../db/transaction.ts';
import { scopeOf } from './policy.ts';
import { insertHeadRevision, setHead, setHeadCommit } from './store.ts';

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
  // Previews that follow the head show it.
  tx.wake('control', moved.id);
  appendEvent(tx, scopeOf(moved), 'platform.head.updated', {
    id: moved.id,
    sourceId,
    revision: moved.head_revision,
  });
  return moved;
}

/**
 * Moves a locked project's head to the commit that its default branch was found at, unless it is there.
 * `sourceId` is that commit's source. Publishes as `moveHead`.
 */
export async function moveBoundHead(
  tx: Tx,
  project: ProjectRow,
  { commitSha, sourceId }: { commitSha: string; sourceId: string },
): Promise<ProjectRow> {
  if (project.head_commit_sha === commitSha) return project;
  await setHeadCommit(tx, project.id, commitSha);
  return moveHead(tx, project, sourceId, null);
}
