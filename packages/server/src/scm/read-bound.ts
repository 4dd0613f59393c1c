import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { InstallationRow } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import { ProviderError } from './provider.ts';
import { providerOf } from './providers.ts';
import { saveRepository } from './store.ts';

/** More of an installation are not read by themselves. */
const MOST = 200;

/**
 * Reads repositories that projects are bound to one by one, for what lists do not tell: the merge methods.
 * Where nothing has changed, that costs a conditional request each.
 */
export async function readBoundRepositories(
  ctx: Context,
  installation: InstallationRow,
  signal: AbortSignal,
): Promise<void> {
  const bound = await ctx.db
    .selectFrom('repositories as r')
    .selectAll('r')
    .where('r.installation_id', '=', installation.id)
    .where('r.gone_at', 'is', null)
    .where('r.deleted_at', 'is', null)
    .where(
      sql<boolean>`exists (select from projects p where p.repository_id = r.id and p.deleted_at is null)`,
    )
    .orderBy('r.updated_at')
    .limit(MOST)
    .execute();
  for (const repository of bound) {
    signal.throwIfAborted();
    try {
      const { mergeMethods } = await providerOf(installation).getRepository({
        ctx,
        installation,
        repository,
      });
      if (mergeMethods && !isDeepStrictEqual(mergeMethods, repository.merge_methods))
        await transaction(ctx, (tx) => saveRepository(tx, repository.id, { merge_methods: mergeMethods }));
    } catch (error) {
      // It went meanwhile, or the provider is away: what is known stays as it is.
      if (!(error instanceof ProviderError)) throw error;
      if (error.fault.code !== 'gone') return;
    }
  }
}
