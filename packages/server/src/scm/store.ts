/**
 * The only writer of `installations`, `repositories`, `commit_statuses`, `local_pull_requests`,
 * `local_comments` and `scm_deliveries`.
 */
import { sql } from 'kysely';
import type { Insertable, Updateable } from 'kysely';
import type { Db } from '../db/database.ts';
import { json } from '../db/schema.ts';
import type { Database, InstallationRow, RepositoryRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { newId } from '../ids.ts';

/** Later than before, also within one millisecond. */
export const touched = sql<Date>`greatest(now(), updated_at + interval '1 millisecond')`;

/** The built-in installation that every organization has. */
export async function insertLocalInstallation(tx: Tx, orgId: string): Promise<void> {
  await tx.db
    .insertInto('installations')
    .values({
      org_id: orgId,
      id: newId('ins'),
      provider: 'local',
      name: 'Built-in',
      auth: 'none',
      managed_by: 'service',
    })
    .execute();
}

/** What calls of the provider say of the installation; null: they succeed. */
export async function noteInstallationState(
  db: Db,
  id: string,
  error: InstallationRow['error'],
): Promise<void> {
  await db
    .updateTable('installations')
    .set({ error: error === null ? null : json(error), updated_at: sql<Date>`now()` })
    .where('id', '=', id)
    .execute();
}

/** A repository that is hosted here; undefined where its name is taken. */
export async function insertLocalRepository(
  tx: Tx,
  row: { org_id: string; id: string; name: string; default_branch: string },
): Promise<RepositoryRow | undefined> {
  const { id: installationId } = await tx.db
    .selectFrom('installations')
    .select('id')
    .where('org_id', '=', row.org_id)
    .where('provider', '=', 'local')
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow();
  return tx.db
    .insertInto('repositories')
    .values({
      ...row,
      installation_id: installationId,
      provider: 'local',
      external_id: row.id,
      full_name: row.name,
    })
    .onConflict((oc) => oc.doNothing())
    .returningAll()
    .executeTakeFirst();
}

export async function saveRepository(
  tx: Tx,
  id: string,
  change: Updateable<Database['repositories']>,
): Promise<RepositoryRow> {
  return tx.db
    .updateTable('repositories')
    .set({ ...change, updated_at: touched })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function markSynced(tx: Tx, installationId: string) {
  return tx.db
    .updateTable('installations')
    .set({ synced_at: sql<Date>`greatest(now(), synced_at + interval '1 millisecond')`, updated_at: touched })
    .where('id', '=', installationId)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function insertStatus(tx: Tx, row: Insertable<Database['commit_statuses']>) {
  return tx.db.insertInto('commit_statuses').values(row).returningAll().executeTakeFirstOrThrow();
}
