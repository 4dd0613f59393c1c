import type { Context } from '../context.ts';
import type { RepositoryRow } from '../db/schema.ts';
import type { Call } from '../http/operation.ts';
import { accessDenied, repositoryGone, unsupported } from './faults.ts';
import { loadRepository } from './policy.ts';
import type { OpenRepository } from './provider.ts';
import { providerOf } from './providers.ts';

/**
 * A repository with the provider that has it. Throws `scm_access_denied` where no installation or credential
 * is left, and `scm_repository_gone` where it was deleted. The caller was authorized for it before.
 */
export async function openRepository(ctx: Context, repositoryId: string): Promise<OpenRepository> {
  const repository = await ctx.db
    .selectFrom('repositories')
    .selectAll()
    .where('id', '=', repositoryId)
    .executeTakeFirst();
  if (!repository) throw repositoryGone();
  return open(ctx, repository);
}

type Asking = Pick<Call, 'ctx' | 'principal' | 'params'>;

/** The repository that the path names, for its caller. */
export async function openNamed({ ctx, principal, params }: Asking): Promise<OpenRepository> {
  return open(ctx, await loadRepository(ctx.db, principal, params.repositoryId!));
}

/** As `openNamed`, for what is done at repositories that this service hosts alone. */
export async function openHosted(call: Asking): Promise<OpenRepository> {
  const repository = await loadRepository(call.ctx.db, call.principal, call.params.repositoryId!);
  requireHosted(repository);
  return open(call.ctx, repository);
}

export function requireHosted(repository: Pick<RepositoryRow, 'provider'>): void {
  if (!providerOf(repository).capabilities.hosts) throw unsupported();
}

async function open(ctx: Context, repository: RepositoryRow): Promise<OpenRepository> {
  if (repository.deleted_at || repository.gone_at) throw repositoryGone();
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
