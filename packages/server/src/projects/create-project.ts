import Type from 'typebox';
import { write } from '../http/operation.ts';
import { Body, Ok, Text } from '../http/schemas.ts';
import { scopeOf } from './policy.ts';
import { Name, Project } from './schemas.ts';
import { insertProject } from './store.ts';
import { projectView } from './view.ts';

export const createProject = write({
  name: 'projects.createProject',
  summary: 'Create a Direct project',
  access: { permissions: ['project:create'], unrestricted: true },
  body: Body({
    name: Name,
    repositoryId: Type.Optional(Text('repo-1', { minLength: 1, maxLength: 128 })),
    defaultBranch: Type.Optional(Text('main', { minLength: 1, maxLength: 255 })),
  }),
  responses: { 201: Ok({ project: Project }) },
  async handle(tx, { principal, body }) {
    const project = await insertProject(tx, { orgId: principal.orgId, kind: 'direct', ...body });
    return { status: 201, body: { ok: true, project: projectView(project) }, scope: scopeOf(project) };
  },
});
