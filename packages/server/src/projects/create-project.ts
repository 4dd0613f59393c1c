import Type from 'typebox';
import { write } from '../http/operation.ts';
import { Body, IdInput, Ok } from '../http/schemas.ts';
import { loadRepository } from '../scm/index.ts';
import { scopeOf } from './policy.ts';
import { Branch, Metadata, Name, Project } from './schemas.ts';
import { insertProject } from './store.ts';
import { projectView } from './view.ts';

export const createProject = write({
  name: 'projects.createProject',
  summary: 'Create a Direct project',
  description:
    "With `repositoryId` it is permanently bound to that repository: its threads start from branches, and its head follows `defaultBranch` (default: the repository's).",
  access: { permissions: ['project:create'], unrestricted: true },
  body: Body({
    name: Name,
    repositoryId: Type.Optional(IdInput('repo')),
    defaultBranch: Type.Optional(Branch),
    metadata: Type.Optional(Metadata),
  }),
  responses: { 201: Ok({ project: Project }) },
  async handle(tx, { principal, body: { repositoryId, ...body } }) {
    const repository =
      repositoryId === undefined ? null : await loadRepository(tx.db, principal, repositoryId, 'share');
    const project = await insertProject(tx, {
      orgId: principal.orgId,
      kind: 'direct',
      ...(repository && {
        repository: { id: repository.id, fullName: repository.full_name },
        defaultBranch: repository.default_branch,
      }),
      ...body,
    });
    return { status: 201, body: { ok: true, project: projectView(project) }, scope: scopeOf(project) };
  },
});
