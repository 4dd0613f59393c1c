import { read } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { Settings, settingsView } from './settings.ts';

export const getOrganizationSettings = read({
  name: 'settings.getOrganizationSettings',
  summary: "Get the organization's defaults, as stored",
  access: { session: 'admin' },
  responses: { 200: Ok({ settings: Settings }) },
  async handle({ ctx, principal }) {
    const { settings } = await ctx.db
      .selectFrom('organizations')
      .select('settings')
      .where('id', '=', principal.orgId)
      .executeTakeFirstOrThrow();
    return { status: 200, body: { ok: true, settings: settingsView(settings) } };
  },
});
