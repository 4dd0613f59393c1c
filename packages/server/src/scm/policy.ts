/**
 * Loading an installation or a repository = being allowed to see it: it is of the caller's organization. A key
 * that is restricted to projects sees the repositories that its projects are bound to, and no installation.
 */
import { sql } from 'kysely';
import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';
import type { Db } from '../db/database.ts';
import type { Database, InstallationRow, RepositoryRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { ApiError, notFound } from '../http/errors.ts';
import type { Principal } from '../http/principal.ts';

type Lock = 'none' | 'share' | 'update';

export async function loadInstallation(
  db: Db | Tx['db'],
  principal: Principal,
  id: string,
  lock: Exclude<Lock, 'share'> = 'none',
): Promise<InstallationRow> {
  if (principal.projectIds !== null) throw notFound('installation');
  let query = db
    .selectFrom('installations')
    .selectAll()
    .where('org_id', '=', principal.orgId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null);
  if (lock === 'update') query = query.forUpdate();
  const installation = await query.executeTakeFirst();
  if (!installation) throw notFound('installation');
  return installation;
}

/** Throws for those that the service or the configuration file has. */
export function requireApiManaged({ managed_by }: Pick<InstallationRow, 'managed_by'>): void {
  if (managed_by !== 'api')
    throw new ApiError(
      'managed_by_config',
      managed_by === 'service'
        ? 'The built-in installation stays as it is.'
        : 'This installation is of the configuration file. Change it there, and restart the service.',
    );
}

/** The repositories that a caller sees. */
export const seenBy =
  (principal: Principal) =>
  (eb: ExpressionBuilder<Database, 'repositories'>): Expression<SqlBool> =>
    eb.and([
      eb('repositories.org_id', '=', principal.orgId),
      eb('repositories.deleted_at', 'is', null),
      ...(principal.projectIds === null
        ? []
        : [
            sql<boolean>`exists (select from projects p where p.repository_id = repositories.id
              and p.deleted_at is null and p.id = any(${[...principal.projectIds]}::text[]))`,
          ]),
    ]);

/** `share` keeps it from being deleted meanwhile. */
export async function loadRepository(
  db: Db | Tx['db'],
  principal: Principal,
  id: string,
  lock: Lock = 'none',
): Promise<RepositoryRow> {
  let query = db.selectFrom('repositories').selectAll().where(seenBy(principal)).where('id', '=', id);
  if (lock === 'update') query = query.forNoKeyUpdate();
  if (lock === 'share') query = query.forShare();
  const repository = await query.executeTakeFirst();
  if (!repository) throw notFound('repository');
  return repository;
}
