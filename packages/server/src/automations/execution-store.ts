/** What the machine of executions writes: `executions`, and of `automations` what follows from them. */
import { sql } from 'kysely';
import type { Insertable, UpdateObject } from 'kysely';
import { hasStatus } from '../db/has-status.ts';
import type { AutomationRow, Database, ExecutionRow, ExecutionsTable } from '../db/schema.ts';
import type { EventScope, Tx } from '../db/transaction.ts';
import type { Facts, Open } from './admission.ts';
import { executionChange, OPEN } from './state.ts';
import type { ExecutionEvent } from './state.ts';

/** Executions that have not ended. */
export const openExecutions = hasStatus('executions', OPEN);
/** Executions whose turn has not come. */
export const queuedExecutions = hasStatus('executions', executionChange('begin').from);
const runningExecutions = hasStatus('executions', executionChange('complete').from);

/** An automation, and where its events are published. */
export interface LockedAutomation {
  automation: AutomationRow;
  scope: EventScope;
}

/**
 * Locks automations in the order of their ids, also deleted ones: who holds the lock admits, begins and ends their
 * executions. Rows that refer to an automation may be inserted meanwhile.
 */
export async function lockAutomations(tx: Tx, ids: readonly string[]): Promise<LockedAutomation[]> {
  const rows = await tx.db
    .selectFrom('automations as a')
    .innerJoin('projects as p', 'p.id', 'a.project_id')
    .selectAll('a')
    .select('p.kind as feed')
    .where('a.id', 'in', [...new Set(ids)])
    .orderBy('a.id')
    .forNoKeyUpdate('a')
    .execute();
  return rows.map(({ feed, ...automation }) => ({
    automation,
    scope: { orgId: automation.org_id, projectId: automation.project_id, feed },
  }));
}

export async function writeAutomation(
  tx: Tx,
  id: string,
  columns: UpdateObject<Database, 'automations'>,
): Promise<AutomationRow> {
  return tx.db
    .updateTable('automations')
    .set(columns)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Notes that executions were made now. */
export async function noteExecutions(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.db
    .updateTable('automations')
    .set({ last_execution_at: sql<Date>`now()` })
    .where('id', 'in', ids)
    .execute();
}

/** Inserts executions; returns those that are new: each time and each event make one at most. */
export async function insertExecutions(tx: Tx, rows: Insertable<ExecutionsTable>[]): Promise<ExecutionRow[]> {
  if (rows.length === 0) return [];
  return tx.db
    .insertInto('executions')
    .values(rows)
    .onConflict((oc) => oc.doNothing())
    .returningAll()
    .execute();
}

/** Every change of an execution's status. Undefined when its status is none that the event needs. */
export async function moveExecution(
  tx: Tx,
  id: string,
  event: ExecutionEvent,
  change: UpdateObject<Database, 'executions'> = {},
): Promise<ExecutionRow | undefined> {
  const { from, to } = executionChange(event);
  const isOver = !(OPEN as readonly string[]).includes(to);
  return tx.db
    .updateTable('executions')
    .set({ ...change, status: to, ...(isOver ? { finished_at: sql<Date>`now()` } : {}) })
    .where('id', '=', id)
    .where(hasStatus('executions', from))
    .returningAll()
    .executeTakeFirst();
}

/** Cancels the queued executions of a locked automation. */
export async function cancelQueuedRows(tx: Tx, automationId: string): Promise<ExecutionRow[]> {
  const rows = await tx.db
    .updateTable('executions')
    .set({ status: executionChange('cancel').to, finished_at: sql<Date>`now()` })
    .where('automation_id', '=', automationId)
    .where(queuedExecutions)
    .returningAll()
    .execute();
  return rows.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Writes columns of an execution that runs. */
export async function writeExecution(
  tx: Tx,
  id: string,
  columns: Pick<UpdateObject<Database, 'executions'>, 'opening'>,
): Promise<void> {
  await tx.db.updateTable('executions').set(columns).where('id', '=', id).where(runningExecutions).execute();
}

/** Open executions of some automations, by automation and key. */
export async function countOpen(
  tx: Tx,
  keys: readonly { automationId: string; key: string }[],
): Promise<({ automationId: string; key: string } & Open)[]> {
  if (keys.length === 0) return [];
  const { rows } = await sql<{ automationId: string; key: string } & Open>`
    select k.id as "automationId", k.key, n.queued, n.running
    from unnest(${keys.map((k) => k.automationId)}::text[], ${keys.map((k) => k.key)}::text[]) as k (id, key)
    cross join lateral (
      select count(*) filter (where ${queuedExecutions})::int as queued, count(*) filter (where ${runningExecutions})::int as running
      from executions where automation_id = k.id and overlap_key = k.key and ${openExecutions}
    ) n where n.queued + n.running > 0`.execute(tx.db);
  return rows;
}

/** How many executions by events and hooks were admitted in the last hour; automations without any are left out. */
export async function countLastHour(
  tx: Tx,
  ids: readonly string[],
): Promise<{ id: string; admittedLastHour: Facts['admittedLastHour'] }[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<{ id: string; admittedLastHour: number }>`
    select automation_id as id, count(*)::int as "admittedLastHour" from executions
    where automation_id = any(${ids}::text[]) and kind in ('event', 'webhook') and status <> 'skipped' and created_at > now() - interval '1 hour'
    group by automation_id`.execute(tx.db);
  return rows;
}

/** What the runs of automations' threads, begun in the current UTC month, have cost; automations without any are left out. */
export async function sumSpent(
  tx: Tx,
  ids: readonly string[],
): Promise<{ id: string; spentMicros: Facts['spentMicros'] }[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<{ id: string; spentMicros: number }>`
    select t.automation_id as id, sum(r.cost_micros)::float8 as "spentMicros"
    from threads t join runs r on r.org_id = t.org_id and r.thread_id collate "C" = t.id and r.created_at >= date_trunc('month', now(), 'UTC')
    where t.automation_id = any(${ids}::text[]) group by t.automation_id`.execute(tx.db);
  return rows;
}
