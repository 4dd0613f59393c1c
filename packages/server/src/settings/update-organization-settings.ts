import { setOrganizationSettings } from '../accounts/index.ts';
import { audit } from '../audit/index.ts';
import { notFound } from '../http/errors.ts';
import { write } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { requireRuntime } from './runtimes.ts';
import { requireSetupPaths } from './setup.ts';
import { changed, Settings, SettingsChange, settingsView } from './settings.ts';

export const updateOrganizationSettings = write({
  name: 'settings.updateOrganizationSettings',
  summary: "Change the organization's defaults",
  description: "Changes only the named settings; null resets one to the service's default.",
  access: { session: 'admin' },
  body: SettingsChange,
  responses: { 200: Ok({ settings: Settings }) },
  async handle(tx, { ctx, principal, body, address }) {
    requireRuntime(ctx, body.runtime);
    requireSetupPaths(body.setup);
    const organization = await tx.db
      .selectFrom('organizations')
      .select('settings')
      .where('id', '=', principal.orgId)
      .where('deleted_at', 'is', null)
      .forUpdate()
      .executeTakeFirst();
    if (!organization) throw notFound('organization');
    const settings = changed(organization.settings, body);
    await setOrganizationSettings(tx, principal.orgId, settings);
    await audit(tx, { principal, address }, 'settings.updated', principal.orgId);
    return { status: 200, body: { ok: true, settings: settingsView(settings) } };
  },
});
