import { audit } from '../audit/index.ts';
import type { ProjectRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { appendEvent } from '../db/transaction.ts';
import { ApiError } from '../http/errors.ts';
import { write } from '../http/operation.ts';
import type { Operation } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { loadProject, scopeOf } from './policy.ts';
import { App, Project } from './schemas.ts';
import { markProjectDeleted } from './store.ts';
import { appEventData, appView, projectView } from './view.ts';

/** What a deletion ends in other domains: app.ts hands it over, since those domains import this one. */
export interface ProjectDependents {
  /** Ends the work of the project's threads and marks them deleted. */
  cancelWork: (tx: Tx, project: ProjectRow) => Promise<void>;
  /** Has the project's objects deleted after the grace. */
  expireObjects: (tx: Tx, projectId: string, graceSeconds: number) => Promise<void>;
}

/**
 * Deletes a locked project: its work is cancelled in this transaction, its objects are deleted after the
 * grace. A build whose sandbox lives refuses the deletion (409 `build_busy`).
 */
export async function deleteProjectRow(
  tx: Tx,
  project: ProjectRow,
  dependents: ProjectDependents,
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
  await dependents.cancelWork(tx, project);
  await dependents.expireObjects(tx, project.id, graceSeconds);
  return markProjectDeleted(tx, project.id);
}

export const deleteApp = (dependents: ProjectDependents): Operation =>
  write({
    name: 'projects.deleteApp',
    summary: 'Delete an app',
    description:
      'Ends its runs, applies and queued builds. Its objects are deleted from the store after a grace period of one hour; its `externalId` is available again immediately.',
    access: { permissions: ['project:delete'] },
    responses: { 200: Ok({ app: App }) },
    async handle(tx, call, receipt) {
      const app = await deleteProjectRow(
        tx,
        await loadProject(tx.db, call, 'update'),
        dependents,
        call.ctx.config.cleanupGraceSeconds,
      );
      await audit(tx, call, 'project.deleted', app.id);
      receipt.publish(tx, scopeOf(app));
      appendEvent(tx, scopeOf(app), 'platform.app.deleted', appEventData(app));
      return { status: 200, body: { ok: true, app: appView(app) }, scope: scopeOf(app) };
    },
  });

export const deleteProject = (dependents: ProjectDependents): Operation =>
  write({
    name: 'projects.deleteProject',
    summary: 'Delete a project',
    access: { permissions: ['project:delete'] },
    responses: { 200: Ok({ project: Project }) },
    async handle(tx, call, receipt) {
      const project = await deleteProjectRow(
        tx,
        await loadProject(tx.db, call, 'update'),
        dependents,
        call.ctx.config.cleanupGraceSeconds,
      );
      await audit(tx, call, 'project.deleted', project.id);
      receipt.publish(tx, scopeOf(project));
      if (project.kind === 'platform')
        appendEvent(tx, scopeOf(project), 'platform.app.deleted', appEventData(project));
      return { status: 200, body: { ok: true, project: projectView(project) }, scope: scopeOf(project) };
    },
  });
