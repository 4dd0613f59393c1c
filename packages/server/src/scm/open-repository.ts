import type { Context } from '../context.ts';
import { accessDenied, repositoryGone } from './faults.ts';
import type { AtRepository, Provider } from './provider.ts';
import { providerOf } from './providers.ts';

/**
 * A repository with the provider that has it. Throws `scm_access_denied` where no installation or credential
 * is left, and `scm_repository_gone` where it was deleted. The caller was authorized for it before.
 */
export async function openRepository(
  ctx: Context,
  repositoryId: string,
): Promise<{ provider: Provider; at: AtRepository }> {
  const repository = await ctx.db
    .selectFrom('repositories')
    .selectAll()
    .where('id', '=', repositoryId)
    .executeTakeFirst();
  if (!repository || repository.deleted_at || repository.gone_at) throw repositoryGone();
  const installation = await ctx.db
    .selectFrom('installations')
    .selectAll()
    .where('id', '=', repository.installation_id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (!installation || (installation.auth !== 'none' && installation.credential_sealed === null))
    throw accessDenied();
  return { provider: providerOf(installation), at: { ctx, installation, repository } };
}
