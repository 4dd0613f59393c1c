import { read } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { loadProject } from './policy.ts';
import { App } from './schemas.ts';
import { appView } from './view.ts';

export const getApp = read({
  name: 'projects.getApp',
  summary: 'Get an app',
  access: { permissions: ['project:read'] },
  responses: { 200: Ok({ app: App }) },
  handle: async (call) => ({
    status: 200,
    body: { ok: true, app: appView(await loadProject(call.ctx.db, call)) },
  }),
});
