import { audit } from '../audit/index.ts';
import { requirePermissions } from '../http/authorize.ts';
import { write } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { loadProject, scopeOf, setProjectSettings } from '../projects/index.ts';
import { requireRuntime } from './runtimes.ts';
import { requireSetupPaths } from './setup.ts';
import { changed, permissionsFor, Settings, SettingsChange, settingsView } from './settings.ts';

export const updateAppSettings = write({
  name: 'settings.updateAppSettings',
  summary: "Change an app's settings",
  description:
    "Changes only the named settings; null resets one to the organization's setting, or else the service's default.",
  access: { permissions: ['project:update'] },
  body: SettingsChange,
  responses: { 200: Ok({ settings: Settings }) },
  before: async (call) => requirePermissions(call, permissionsFor(call.body)),
  async handle(tx, call) {
    requireRuntime(call.ctx, call.body.runtime);
    requireSetupPaths(call.body.setup);
    const project = await loadProject(tx.db, call, 'update');
    const settings = changed(project.settings, call.body);
    await setProjectSettings(tx, project.id, settings);
    await audit(tx, call, 'settings.updated', project.id);
    return { status: 200, body: { ok: true, settings: settingsView(settings) }, scope: scopeOf(project) };
  },
});
