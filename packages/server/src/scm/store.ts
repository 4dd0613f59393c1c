/**
 * The only writer of `installations`, `repositories`, `commit_statuses`, `local_pull_requests`,
 * `local_comments` and `scm_deliveries`.
 */
import { sql } from 'kysely';
import type { Insertable, Updateable } from 'kysely';
import { INSTALLATIONS_LOCK } from '../db/advisory-locks.ts';
import type { Db } from '../db/database.ts';
import { countChanged } from '../db/purge.ts';
import type { Purge } from '../db/purge.ts';
import { json } from '../db/schema.ts';
import type { Database, InstallationRow, LocalPullRequestRow, RepositoryRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { newId } from '../ids.ts';
import { sealedColumn } from '../sealed-rows.ts';
import { CREDENTIAL_PURPOSE, WEBHOOK_PURPOSE } from './credentials.ts';

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

export async function insertInstallation(
  tx: Tx,
  row: Insertable<Database['installations']>,
): Promise<InstallationRow> {
  return tx.db.insertInto('installations').values(row).returningAll().executeTakeFirstOrThrow();
}

export async function saveInstallation(
  tx: Tx,
  id: string,
  change: Updateable<Database['installations']>,
): Promise<InstallationRow> {
  return tx.db
    .updateTable('installations')
    .set({ ...change, updated_at: touched })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Those of the configuration file, for one process at a time. */
export async function lockConfiguredInstallations(tx: Tx): Promise<InstallationRow[]> {
  await sql`select pg_advisory_xact_lock(${INSTALLATIONS_LOCK})`.execute(tx.db);
  return tx.db
    .selectFrom('installations')
    .selectAll()
    .where('managed_by', '=', 'config')
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .execute();
}

/** Its secrets go at once; its repositories stay, and wait for another installation that sees them. */
export const removeInstallation = (tx: Tx, id: string): Promise<InstallationRow> =>
  saveInstallation(tx, id, {
    credential_sealed: null,
    webhook_secret_sealed: null,
    error: null,
    deleted_at: sql<Date>`now()`,
  });

/** With an organization its installations and repositories go, and what the installations had sealed. */
export async function deleteSourceControlOf(tx: Tx, orgId: string): Promise<void> {
  await tx.db
    .updateTable('installations')
    .set({
      credential_sealed: null,
      webhook_secret_sealed: null,
      error: null,
      deleted_at: sql<Date>`now()`,
      updated_at: touched,
    })
    .where('org_id', '=', orgId)
    .where('deleted_at', 'is', null)
    .execute();
  await tx.db
    .updateTable('repositories')
    .set({ deleted_at: sql<Date>`now()`, updated_at: touched })
    .where('org_id', '=', orgId)
    .where('deleted_at', 'is', null)
    .execute();
}

/** What calls with this credential say of the installation; null: they succeed. One that was only tried says nothing. */
export async function noteInstallationState(
  db: Db,
  { id, credential_sealed }: Pick<InstallationRow, 'id' | 'credential_sealed'>,
  error: InstallationRow['error'],
): Promise<void> {
  await db
    .updateTable('installations')
    .set({ error: error === null ? null : json(error), updated_at: touched })
    .where('id', '=', id)
    .where('credential_sealed', 'is not distinct from', credential_sealed)
    .where('deleted_at', 'is', null)
    .execute();
}

/** For who waits for a sync: one that fails with the error that is known already moves `updatedAt`, too. */
export async function touchInstallation(db: Db, id: string): Promise<void> {
  await db.updateTable('installations').set({ updated_at: touched }).where('id', '=', id).execute();
}

/** Installations of other hosts whose repositories are due to be read; their next time is set. */
export async function takeDueInstallations(
  tx: Tx,
  { limit, seconds }: { limit: number; seconds: number },
): Promise<Pick<InstallationRow, 'id' | 'org_id'>[]> {
  return tx.db
    .updateTable('installations')
    .set({ sync_due_at: sql<Date>`now() + ${seconds} * interval '1 second'` })
    .where('id', 'in', (q) =>
      q
        .selectFrom('installations')
        .select('id')
        .where('deleted_at', 'is', null)
        .where('credential_sealed', 'is not', null)
        .where((w) => w.or([w('sync_due_at', 'is', null), w('sync_due_at', '<=', sql<Date>`now()`)]))
        .orderBy('id')
        .limit(limit)
        .forUpdate()
        .skipLocked(),
    )
    .returning(['id', 'org_id'])
    .execute();
}

/** One that another host has; nothing where a rival has added it meanwhile. */
export async function insertRepository(tx: Tx, row: Insertable<Database['repositories']>): Promise<void> {
  await tx.db
    .insertInto('repositories')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Those that an installation has and sees no more; returns how many. */
export async function markGone(tx: Tx, installationId: string, seen: readonly string[]): Promise<number> {
  const { numUpdatedRows } = await tx.db
    .updateTable('repositories')
    .set({ gone_at: sql<Date>`now()`, updated_at: touched })
    .where('installation_id', '=', installationId)
    .where('gone_at', 'is', null)
    .where('deleted_at', 'is', null)
    .where(sql<boolean>`external_id <> all(${seen}::text[])`)
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}

/** Whether this delivery is the first of its id; a later one within seven days is not. */
export async function takeDelivery(tx: Tx, installationId: string, deliveryId: string): Promise<boolean> {
  const { rows } = await sql`
    insert into scm_deliveries (installation_id, delivery_id) values (${installationId}, ${deliveryId})
    on conflict (installation_id, delivery_id) do update set received_at = now()
      where scm_deliveries.received_at < now() - interval '7 days'
    returning 1`.execute(tx.db);
  return rows.length > 0;
}

export async function noteWebhook(tx: Tx, installationId: string): Promise<void> {
  await tx.db
    .updateTable('installations')
    .set({ webhook_received_at: sql<Date>`now()` })
    .where('id', '=', installationId)
    .execute();
}

export async function deleteOldDeliveries(db: Db, limit: number): Promise<number> {
  return countChanged(
    db,
    sql`delete from scm_deliveries where (installation_id, delivery_id) in (
      select installation_id, delivery_id from scm_deliveries where received_at < now() - interval '7 days'
      limit ${limit})`,
  );
}

export const sealedCredentials = sealedColumn(
  { table: 'installations', column: 'credential_sealed' },
  { what: "installations' credentials", purpose: CREDENTIAL_PURPOSE },
);
export const sealedWebhookSecrets = sealedColumn(
  { table: 'installations', column: 'webhook_secret_sealed' },
  { what: "installations' webhook secrets", purpose: WEBHOOK_PURPOSE },
);

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

/** The next one of a repository, whose row is locked; undefined where one of the same branches is open. */
export async function insertLocalPull(
  tx: Tx,
  row: Omit<Insertable<Database['local_pull_requests']>, 'number' | 'state'>,
): Promise<LocalPullRequestRow | undefined> {
  const { last_number: number } = await tx.db
    .updateTable('repositories')
    .set(({ eb }) => ({ last_number: eb('last_number', '+', 1) }))
    .where('id', '=', row.repository_id)
    .returning('last_number')
    .executeTakeFirstOrThrow();
  return tx.db
    .insertInto('local_pull_requests')
    .values({ ...row, number, state: 'open' })
    .onConflict((oc) => oc.doNothing())
    .returningAll()
    .executeTakeFirst();
}

export async function saveLocalPull(
  tx: Tx,
  { repository_id, number }: Pick<LocalPullRequestRow, 'repository_id' | 'number'>,
  change: Updateable<Database['local_pull_requests']>,
): Promise<LocalPullRequestRow> {
  return tx.db
    .updateTable('local_pull_requests')
    .set({ ...change, updated_at: touched })
    .where('repository_id', '=', repository_id)
    .where('number', '=', number)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** What nobody sees: `updated_at` stays. */
export async function noteMerging(
  tx: Tx,
  { repository_id, number }: Pick<LocalPullRequestRow, 'repository_id' | 'number'>,
  mergingSha: string | null,
): Promise<void> {
  await tx.db
    .updateTable('local_pull_requests')
    .set({ merging_sha: mergingSha })
    .where('repository_id', '=', repository_id)
    .where('number', '=', number)
    .execute();
}

export async function insertLocalComment(tx: Tx, row: Insertable<Database['local_comments']>) {
  return tx.db.insertInto('local_comments').values(row).returningAll().executeTakeFirstOrThrow();
}

export async function saveLocalComment(tx: Tx, id: string, change: { resolved: boolean }) {
  return tx.db
    .updateTable('local_comments')
    .set(change)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

const ofRepositories =
  (table: 'commit_statuses' | 'local_comments' | 'local_pull_requests'): Purge =>
  (db, repositoryIds, limit) =>
    countChanged(
      db,
      sql`delete from ${sql.table(table)} where ctid = any(array(
        select ctid from ${sql.table(table)} where repository_id = any(${repositoryIds}::text[]) limit ${limit}))`,
    );

/** What goes with repositories that this service hosted; the repositories themselves last. */
export const purgeHosted: Purge[] = [
  ofRepositories('commit_statuses'),
  // Replies name what they reply to.
  (db, repositoryIds, limit) =>
    countChanged(
      db,
      sql`delete from local_comments where id = any(array(select id from local_comments
        where repository_id = any(${repositoryIds}::text[]) and in_reply_to is not null limit ${limit}))`,
    ),
  ofRepositories('local_comments'),
  ofRepositories('local_pull_requests'),
  (db, repositoryIds) =>
    countChanged(
      db,
      sql`delete from repositories where id = any(${repositoryIds}::text[]) and provider = 'local' and deleted_at is not null`,
    ),
];
