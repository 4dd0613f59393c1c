import { read } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { loadProject } from './policy.ts';
import { Project } from './schemas.ts';
import { projectView } from './view.ts';

export const getProject = read({
  name: 'projects.getProject',
  summary: 'Get a project, Direct or Platform',
  access: { permissions: ['project:read'] },
  responses: { 200: Ok({ project: Project }) },
  handle: async (call) => ({
    status: 200,
    body: { ok: true, project: projectView(await loadProject(call.ctx.db, call)) },
  }),
});
