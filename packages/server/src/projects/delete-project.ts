import { audit } from '../audit/index.ts';
import type { ProjectRow } from '../db/schema.ts';
import { appendEvent } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { write } from '../http/operation.ts';
import type { Call } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import type { Receipt } from '../http/write-request.ts';
import { deleteProjectRow } from '../teardown/index.ts';
import { loadProject, scopeOf } from './policy.ts';
import { App, Project } from './schemas.ts';
import { appEventData, appView, projectView } from './view.ts';

/** Deletes the project that the path names; publishes `platform.app.deleted` for an app. */
async function deleteNamed(tx: Tx, call: Call, receipt: Receipt): Promise<ProjectRow> {
  const project = await deleteProjectRow(
    tx,
    await loadProject(tx.db, call, 'update'),
    call.ctx.config.cleanupGraceSeconds,
  );
  await audit(tx, call, 'project.deleted', project.id);
  receipt.publish(tx, scopeOf(project));
  if (project.kind === 'platform')
    appendEvent(tx, scopeOf(project), 'platform.app.deleted', appEventData(project));
  return project;
}

export const deleteApp = write({
  name: 'projects.deleteApp',
  summary: 'Delete an app',
  description:
    'Ends its runs, applies, previews and queued builds. Its objects are deleted from the store after a grace period of one hour; its `externalId` is available again immediately.',
  access: { permissions: ['project:delete'] },
  responses: { 200: Ok({ app: App }) },
  async handle(tx, call, receipt) {
    const app = await deleteNamed(tx, call, receipt);
    return { status: 200, body: { ok: true, app: appView(app) }, scope: scopeOf(app) };
  },
});

export const deleteProject = write({
  name: 'projects.deleteProject',
  summary: 'Delete a project',
  access: { permissions: ['project:delete'] },
  responses: { 200: Ok({ project: Project }) },
  async handle(tx, call, receipt) {
    const project = await deleteNamed(tx, call, receipt);
    return { status: 200, body: { ok: true, project: projectView(project) }, scope: scopeOf(project) };
  },
});
