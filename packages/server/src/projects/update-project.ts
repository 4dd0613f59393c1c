import Type from 'typebox';
import { appendEvent } from '../db/transaction.ts';
import { ApiError } from '../http/errors.ts';
import { write } from '../http/operation.ts';
import { Body, Counter, Nullable, Ok, Text } from '../http/schemas.ts';
import { loadProject, scopeOf } from './policy.ts';
import { Name, Project } from './schemas.ts';
import { updateProject as change } from './store.ts';
import { appEventData, projectView } from './view.ts';

export const updateProject = write({
  name: 'projects.updateProject',
  summary: "Change a project's name or default branch",
  access: { permissions: ['project:update'] },
  body: Body({
    name: Type.Optional(Name),
    defaultBranch: Type.Optional(Nullable(Text('main', { minLength: 1, maxLength: 255 }))),
    expectedVersion: Type.Optional(Counter),
  }),
  responses: { 200: Ok({ project: Project }) },
  async handle(tx, call) {
    const before = await loadProject(tx.db, call, 'update');
    const { expectedVersion, ...wanted } = call.body;
    if (expectedVersion !== undefined && expectedVersion !== before.version)
      throw new ApiError(
        'version_conflict',
        'The project was changed meanwhile. Read it again and decide anew.',
        { details: { current: { version: before.version } } },
      );
    const isSame =
      (wanted.name ?? before.name) === before.name &&
      (wanted.defaultBranch === undefined || wanted.defaultBranch === before.default_branch);
    const project = isSame ? before : await change(tx, before.id, wanted);
    if (!isSame && project.kind === 'platform')
      appendEvent(tx, scopeOf(project), 'platform.app.updated', appEventData(project));
    return { status: 200, body: { ok: true, project: projectView(project) }, scope: scopeOf(project) };
  },
});
