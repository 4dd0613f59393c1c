import { sql } from 'kysely';
import type { ProjectRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { appendEvent } from '../db/transaction.ts';
import { scopeOf } from './policy.ts';

/**
 * Moves a locked project's head by one revision and records it in the history; publishes
 * `platform.head.updated`. `applyId` null: the head is initialized. Not a project version: the head has a
 * counter of its own.
 */
export async function moveHead(
  tx: Tx,
  project: ProjectRow,
  sourceId: string,
  applyId: string | null,
): Promise<ProjectRow> {
  const moved = await tx.db
    .updateTable('projects')
    .set({
      head_source_id: sourceId,
      head_revision: (project.head_revision ?? 0) + 1,
      head_updated_at: sql<Date>`now()`,
    })
    .where('id', '=', project.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  await tx.db
    .insertInto('head_history')
    .values({
      org_id: moved.org_id,
      project_id: moved.id,
      revision: moved.head_revision!,
      source_id: sourceId,
      apply_id: applyId,
    })
    .execute();
  appendEvent(tx, scopeOf(moved), 'platform.head.updated', {
    id: moved.id,
    sourceId,
    revision: moved.head_revision,
  });
  return moved;
}
