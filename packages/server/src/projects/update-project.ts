import Type from 'typebox';
import { isDeepStrictEqual } from 'node:util';
import { appendEvent } from '../db/transaction.ts';
import { ApiError, invalid } from '../http/errors.ts';
import { write } from '../http/operation.ts';
import { Body, Counter, Nullable, Ok } from '../http/schemas.ts';
import { loadProject, scopeOf } from './policy.ts';
import { Branch, Metadata, Name, Project } from './schemas.ts';
import { updateProject as change } from './store.ts';
import { appEventData, projectView } from './view.ts';

export const updateProject = write({
  name: 'projects.updateProject',
  summary: "Change a project's name, default branch or metadata",
  description:
    '`metadata` is replaced as a whole. The repository of a project never changes. With `expectedVersion`, an intervening change answers 409 `version_conflict` and nothing is changed.',
  access: { permissions: ['project:update'] },
  body: Body({
    name: Type.Optional(Name),
    defaultBranch: Type.Optional(Nullable(Branch)),
    metadata: Type.Optional(Metadata),
    expectedVersion: Type.Optional(Counter),
  }),
  responses: { 200: Ok({ project: Project }) },
  async handle(tx, call) {
    const before = await loadProject(tx.db, call, 'update');
    const { expectedVersion, ...wanted } = call.body;
    if (before.repository_id !== null && wanted.defaultBranch === null)
      throw invalid({ path: '/defaultBranch', message: 'must be a branch: the project has a repository' });
    if (expectedVersion !== undefined && expectedVersion !== before.version)
      throw new ApiError(
        'version_conflict',
        'The project was changed meanwhile. Read it again and decide again.',
        { details: { current: { version: before.version } } },
      );
    const isSame =
      (wanted.name ?? before.name) === before.name &&
      (wanted.defaultBranch === undefined || wanted.defaultBranch === before.default_branch) &&
      (wanted.metadata === undefined || isDeepStrictEqual(wanted.metadata, before.metadata));
    const project = isSame ? before : await change(tx, before.id, wanted);
    if (!isSame && project.kind === 'platform')
      appendEvent(tx, scopeOf(project), 'platform.app.updated', appEventData(project));
    return { status: 200, body: { ok: true, project: projectView(project) }, scope: scopeOf(project) };
  },
});
