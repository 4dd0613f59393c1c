import { read } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { loadProject } from '../projects/index.ts';
import { Settings, settingsView } from './settings.ts';

export const getAppSettings = read({
  name: 'settings.getAppSettings',
  summary: "Get an app's settings, as stored",
  description: "null: the organization's setting holds, then the service's default.",
  access: { permissions: ['project:read'] },
  responses: { 200: Ok({ settings: Settings }) },
  handle: async (call) => ({
    status: 200,
    body: { ok: true, settings: settingsView((await loadProject(call.ctx.db, call)).settings) },
  }),
});
