import type { Context } from '../context.ts';
import type { AtInstallation, Provider } from './provider.ts';
import { providerOf } from './providers.ts';

interface OpenInstallation {
  provider: Provider;
  at: AtInstallation;
}

/** The usable installations of an organization, oldest first. */
export async function openInstallations(ctx: Context, orgId: string): Promise<OpenInstallation[]> {
  const rows = await ctx.db
    .selectFrom('installations')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('deleted_at', 'is', null)
    .where((eb) => eb.or([eb('auth', '=', 'none'), eb('credential_sealed', 'is not', null)]))
    .orderBy('id')
    .execute();
  return rows.map((installation) => ({ provider: providerOf(installation), at: { ctx, installation } }));
}
