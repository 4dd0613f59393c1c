/** Automations as callers define them, and reads of their executions, whose statuses execution-store.ts writes. */
import { sql } from 'kysely';
import type { Insertable, RawBuilder, Updateable } from 'kysely';
import { lockOrganization } from '../accounts/index.ts';
import type { Db } from '../db/database.ts';
import { countChanged } from '../db/purge.ts';
import type { Purge } from '../db/purge.ts';
import { json } from '../db/schema.ts';
import type { AutomationRow, AutomationTrigger, Database, ExecutionRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { sealedColumn } from '../sealed-rows.ts';
import type { SealedRows } from '../sealed-rows.ts';
import { PURPOSE } from './secrets.ts';
import { EXECUTION_COLUMNS } from './view.ts';
import type { ListedExecution } from './view.ts';

type AutomationsTable = Database['automations'];

export async function insertAutomation(tx: Tx, row: Insertable<AutomationsTable>): Promise<AutomationRow> {
  return tx.db.insertInto('automations').values(row).returningAll().executeTakeFirstOrThrow();
}

/** When a change is made: later than the one before. */
export const touched = sql<Date>`greatest(now(), updated_at + interval '1 millisecond')`;

/** Writes columns for a caller's change, and sets `updated_at`. */
export async function saveAutomation(
  tx: Tx,
  id: string,
  columns: Updateable<AutomationsTable>,
): Promise<AutomationRow> {
  return tx.db
    .updateTable('automations')
    .set({ ...columns, updated_at: touched })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Whether events start the automation in the path. */
export async function isByEvents(
  db: Db,
  { orgId }: { orgId: string },
  { automationId }: Record<string, string>,
): Promise<boolean> {
  const row = await db
    .selectFrom('automations')
    .select('kind')
    .where('org_id', '=', orgId)
    .where('id', '=', automationId!)
    .executeTakeFirst();
  return row?.kind === 'event';
}

/** Marks automations as deleted and removes their secrets. */
export async function markAutomationsDeleted(tx: Tx, ids: readonly string[]): Promise<void> {
  await tx.db
    .updateTable('automations')
    .set({
      deleted_at: sql<Date>`now()`,
      next_run_at: null,
      secret_sealed: null,
      former_secret_sealed: null,
      former_secret_until: null,
    })
    .where('id', 'in', ids)
    .execute();
}

/** Locks the automations of a project, in the order of their ids. */
export async function lockAutomationsOf(
  tx: Tx,
  projectId: string,
): Promise<Pick<AutomationRow, 'id' | 'next_run_at'>[]> {
  return tx.db
    .selectFrom('automations')
    .select(['id', 'next_run_at'])
    .where('project_id', '=', projectId)
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
}

/** The number in an organization, with its row locked, so that concurrent calls do not exceed the limit together. */
export async function countAutomations(tx: Tx, orgId: string): Promise<number> {
  await lockOrganization(tx, orgId);
  const { count } = await tx.db
    .selectFrom('automations')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('org_id', '=', orgId)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow();
  return count;
}

interface Filter {
  orgId: string;
  projectIds: ReadonlySet<string> | null;
  projectId?: string | undefined;
}

/** Automations after `after`, newest first. Those of deleted projects are deleted with them. */
export async function listAutomations(
  db: Db,
  { orgId, projectIds, projectId }: Filter,
  after: string | null,
  limit: number,
): Promise<AutomationRow[]> {
  let query = db
    .selectFrom('automations')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('deleted_at', 'is', null);
  if (projectIds) query = query.where('project_id', 'in', [...projectIds, '']);
  if (projectId !== undefined) query = query.where('project_id', '=', projectId);
  if (after !== null) query = query.where('id', '<', after);
  return query.orderBy('id', 'desc').limit(limit).execute();
}

/** Executions of an automation after `after`, newest first, without their payloads. */
export async function listExecutions(
  db: Db,
  { automationId, status }: { automationId: string; status?: ExecutionRow['status'] | undefined },
  after: string | null,
  limit: number,
): Promise<ListedExecution[]> {
  let query = db.selectFrom('executions').select(EXECUTION_COLUMNS).where('automation_id', '=', automationId);
  if (status !== undefined) query = query.where('status', '=', status);
  if (after !== null) query = query.where('id', '<', after);
  return query.orderBy('id', 'desc').limit(limit).execute();
}

export async function readExecution(
  db: Db,
  automationId: string,
  id: string,
): Promise<ExecutionRow | undefined> {
  return db
    .selectFrom('executions')
    .selectAll()
    .where('automation_id', '=', automationId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Executions that began before a time, and have ended. */
export const executionsBefore =
  (time: RawBuilder<unknown>): Purge =>
  (db, _, limit) =>
    countChanged(
      db,
      sql`delete from executions where id in (
        select id from executions where created_at < ${time} and finished_at is not null order by created_at limit ${limit})`,
    );

/** Removes deliveries of hooks before a time: a repeated one then counts as new. */
export const hookDeliveriesBefore =
  (time: RawBuilder<unknown>): Purge =>
  (db, _, limit) =>
    countChanged(
      db,
      sql`delete from hook_deliveries where (automation_id, delivery_id) in (
        select automation_id, delivery_id from hook_deliveries where created_at < ${time} order by created_at limit ${limit})`,
    );

/** Removes the rows of deleted automations whose executions have ended. */
export const purgeAutomations: Purge[] = [
  (db, ids, limit) =>
    countChanged(
      db,
      sql`delete from hook_deliveries where (automation_id, delivery_id) in (
        select automation_id, delivery_id from hook_deliveries where automation_id = any(${ids}::text[]) limit ${limit})`,
    ),
  (db, ids, limit) =>
    countChanged(
      db,
      sql`delete from executions where id in (
        select id from executions where automation_id = any(${ids}::text[]) limit ${limit})`,
    ),
];

/** Empties deleted automations. */
export async function markAutomationsPurged(db: Db, ids: readonly string[]): Promise<void> {
  await db
    .updateTable('automations')
    .set({
      name: '',
      prompt: '',
      trigger: sql<AutomationTrigger>`'{}'::jsonb`,
      filter: json([]),
      model_id: null,
      base_branch: null,
      purged_at: sql<Date>`now()`,
    })
    .where('id', 'in', ids)
    .execute();
}

const sealedSecret = (column: 'secret_sealed' | 'former_secret_sealed', what: string): SealedRows =>
  sealedColumn({ table: 'automations', column }, { what, purpose: PURPOSE });

export const sealedAutomationSecrets: SealedRows[] = [
  sealedSecret('secret_sealed', "automations' secrets"),
  sealedSecret('former_secret_sealed', "automations' secrets before their rotation"),
];
