import { read } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { headNotInitialized, loadProject } from './policy.ts';
import { Head } from './schemas.ts';
import { headView } from './view.ts';

export const getHead = read({
  name: 'projects.getHead',
  summary: 'Get the head: the current source version',
  access: { permissions: ['project:read'] },
  responses: { 200: Ok({ head: Head }) },
  async handle(call) {
    const project = await loadProject(call.ctx.db, call);
    if (project.head_source_id === null) throw headNotInitialized();
    return { status: 200, body: { ok: true, head: headView(project) } };
  },
});
