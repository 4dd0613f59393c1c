import { unlistApplies } from '../applies/index.ts';
import { endAutomationsOf } from '../automations/index.ts';
import { unlistBuilds } from '../builds/index.ts';
import type { ProjectRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { deleteProjectVariables } from '../environment/index.ts';
import { ApiError } from '../http/errors.ts';
import { unlistPreviews } from '../previews/index.ts';
import { markProjectDeleted, scopeOf } from '../projects/index.ts';
import { deleteProjectSkills } from '../skills/index.ts';
import { expireObjects } from '../sources/index.ts';
import { endSubscriptionsOf } from '../webhooks/index.ts';
import { cancelProjectWork } from './cancel-work.ts';

/**
 * Deletes a locked project: its work is cancelled and its variables and skills are deleted in this transaction, its
 * objects after the grace. A build whose sandbox lives refuses the deletion (409 `build_busy`).
 */
export async function deleteProjectRow(
  tx: Tx,
  project: ProjectRow,
  graceSeconds: number,
): Promise<ProjectRow> {
  const building = await tx.db
    .selectFrom('builds')
    .select('id')
    .where('project_id', '=', project.id)
    .where('status', '=', 'building')
    .limit(1)
    .executeTakeFirst();
  if (building)
    throw new ApiError(
      'build_busy',
      'A build of this app still has a sandbox. Cancel the build and retry once it has ended.',
    );
  await cancelProjectWork(tx, project);
  // All threads are locked, so nothing is added to these lists any more.
  await unlistApplies(tx, project.id);
  await unlistBuilds(tx, project.id);
  await unlistPreviews(tx, project.id);
  await endAutomationsOf(tx, { ...scopeOf(project), projectId: project.id });
  await endSubscriptionsOf(tx, project.id);
  await deleteProjectVariables(tx, project.id);
  await deleteProjectSkills(tx, project.id);
  await expireObjects(tx, project.id, graceSeconds);
  return markProjectDeleted(tx, project.id);
}
