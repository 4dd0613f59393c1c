/** Writes of the execution machine: `executions`, and the columns of `automations` that follow from them. */
import { sql } from 'kysely';
import type { Insertable, UpdateObject } from 'kysely';
import { hasStatus } from '../db/has-status.ts';
import type { Db } from '../db/database.ts';
import type { AutomationRow, Database, ExecutionRow, ExecutionsTable } from '../db/schema.ts';
import type { EventScope, Tx } from '../db/transaction.ts';
import type { Facts, Open } from './admission.ts';
import { executionKey } from './enqueue.ts';
import { executionChange, OPEN } from './state.ts';
import type { ExecutionEvent } from './state.ts';

/** Open executions. */
export const openExecutions = hasStatus('executions', OPEN);
/** Executions that wait for their turn. */
export const queuedExecutions = hasStatus('executions', executionChange('begin').from);
const runningExecutions = hasStatus('executions', executionChange('complete').from);

/** An automation, and the feed of its events. */
export interface LockedAutomation {
  automation: AutomationRow;
  scope: EventScope;
}

/**
 * Locks automations in the order of their ids, also deleted ones. Executions are admitted, begun and ended under this
 * lock. Rows that refer to an automation may be inserted meanwhile.
 */
export async function lockAutomations(tx: Tx, ids: readonly string[]): Promise<LockedAutomation[]> {
  const rows = await withFeed(tx)
    .where(sql<boolean>`a.id = any(${[...new Set(ids)]}::text[])`)
    .orderBy('a.id')
    .forNoKeyUpdate('a')
    .execute();
  return rows.map(lockedOf);
}

/** Locks due automations, the earliest due first, except those that another process has locked. */
export async function lockDue(tx: Tx, now: Date, limit: number): Promise<LockedAutomation[]> {
  const rows = await withFeed(tx)
    .where('a.next_run_at', '<=', now)
    .orderBy('a.next_run_at')
    .limit(limit)
    .forNoKeyUpdate('a')
    .skipLocked()
    .execute();
  return rows.map(lockedOf);
}

const withFeed = (tx: Tx) =>
  tx.db
    .selectFrom('automations as a')
    .innerJoin('projects as p', 'p.id', 'a.project_id')
    .selectAll('a')
    .select('p.kind as feed');

const lockedOf = ({ feed, ...automation }: AutomationRow & Pick<EventScope, 'feed'>): LockedAutomation => ({
  automation,
  scope: { orgId: automation.org_id, projectId: automation.project_id, feed },
});

/** Moves automations to their next times. */
export async function setNextRuns(tx: Tx, runs: readonly { id: string; next: Date | null }[]): Promise<void> {
  if (runs.length === 0) return;
  await sql`
    update automations a set next_run_at = n.next
    from unnest(${runs.map(({ id }) => id)}::text[], ${runs.map(({ next }) => next)}::timestamptz[]) as n (id, next) where a.id = n.id`.execute(
    tx.db,
  );
}

export interface LockedExecution extends LockedAutomation {
  execution: ExecutionRow;
}

/** Locks an execution and its automation; undefined if it does not exist. */
export async function lockExecution(
  tx: Tx,
  { id, automation_id: automationId }: Pick<ExecutionRow, 'id' | 'automation_id'>,
): Promise<LockedExecution | undefined> {
  const [locked] = await lockAutomations(tx, [automationId]);
  const execution = await tx.db
    .selectFrom('executions')
    .selectAll()
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  return locked && execution && { ...locked, execution };
}

export async function findExecution(db: Db, id: string): Promise<ExecutionRow | undefined> {
  return db.selectFrom('executions').selectAll().where('id', '=', id).executeTakeFirst();
}

/** The oldest queued execution of a key, unless one of the key runs. */
export async function findNext(
  tx: Tx,
  { automation_id: automationId, overlap_key: key }: Pick<ExecutionRow, 'automation_id' | 'overlap_key'>,
): Promise<Pick<ExecutionRow, 'id' | 'org_id' | 'project_id'> | undefined> {
  const next = await tx.db
    .selectFrom('executions')
    .select(['id', 'org_id', 'project_id', 'status'])
    .where('automation_id', '=', automationId)
    .where('overlap_key', '=', key)
    .where(openExecutions)
    .orderBy(sql`case when ${runningExecutions} then 0 else 1 end`)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  return next?.status === 'queued' ? next : undefined;
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

/** Records that executions were created now. */
export async function noteExecutions(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.db
    .updateTable('automations')
    .set({ last_execution_at: sql<Date>`greatest(now(), last_execution_at)` })
    .where(sql<boolean>`id = any(${ids}::text[])`)
    .execute();
}

/** A statement takes no more than 65,535 values. */
const MOST_AT_ONCE = 2_000;

/** Inserts executions; returns the new ones: each time and each event creates at most one. */
export async function insertExecutions(tx: Tx, rows: Insertable<ExecutionsTable>[]): Promise<ExecutionRow[]> {
  const made: ExecutionRow[] = [];
  for (let from = 0; from < rows.length; from += MOST_AT_ONCE)
    made.push(
      ...(await tx.db
        .insertInto('executions')
        .values(rows.slice(from, from + MOST_AT_ONCE))
        .onConflict((oc) => oc.doNothing())
        .returningAll()
        .execute()),
    );
  return made;
}

/** The time of this statement: the transaction may have begun before the execution was made, and waited for its lock. */
const clockNow = sql<Date>`clock_timestamp()`;

/** Every change of an execution's status. Undefined if the event requires another status. */
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
    .set({ ...change, status: to, [isOver ? 'finished_at' : 'started_at']: clockNow })
    .where('id', '=', id)
    .where(hasStatus('executions', from))
    .returningAll()
    .executeTakeFirst();
}

/** Cancels the queued executions of a locked automation, or all that are open. */
export async function cancelRows(
  tx: Tx,
  automationId: string,
  which: 'queued' | 'open',
): Promise<ExecutionRow[]> {
  const rows = await tx.db
    .updateTable('executions')
    .set({ status: executionChange('cancel').to, finished_at: clockNow })
    .where('automation_id', '=', automationId)
    .where(which === 'open' ? openExecutions : queuedExecutions)
    .returningAll()
    .execute();
  return rows.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Writes columns of a running execution. */
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

/** Automations for which events or hooks created this many executions in the last hour. */
export async function findFlooded(tx: Tx, ids: readonly string[], flood: number): Promise<string[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<{ id: string }>`
    select a.id from unnest(${ids}::text[]) as a (id) cross join lateral (
      select created_at from executions where automation_id = a.id and kind in ('event', 'webhook') order by id desc offset ${flood - 1} limit 1
    ) e where e.created_at > now() - interval '1 hour'`.execute(tx.db);
  return rows.map(({ id }) => id);
}

/** The cost of runs that began in the current UTC month, by automation; automations without any are left out. */
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

type Queued = Pick<ExecutionRow, 'id' | 'org_id' | 'project_id'>;

/** The running executions of some threads. */
export async function findRunning(tx: Tx, threadIds: readonly string[]): Promise<Queued[]> {
  if (threadIds.length === 0) return [];
  return tx.db
    .selectFrom('executions')
    .select(['id', 'org_id', 'project_id'])
    .where('thread_id', 'in', threadIds)
    .where(runningExecutions)
    .orderBy('id')
    .execute();
}

/** Open executions that could begin or end but have no job. */
export async function findForgotten(tx: Tx, limit: number): Promise<Queued[]> {
  const { rows } = await sql<Queued>`
    select executions.id, executions.org_id, executions.project_id from executions join automations a on a.id = executions.automation_id
    where ${openExecutions} and executions.created_at < now() - interval '10 seconds'
      and not exists (select from jobs j where j.key = ${executionKey('')} || executions.id)
      and case when ${runningExecutions}
        then not exists (
          select from runs r join threads t on t.id = r.thread_id
          where r.id = executions.run_id and r.status in ('queued', 'running', 'waiting') and t.archived_at is null and t.deleted_at is null)
        else a.overlap <> 'queue' or not exists (
          select from executions o where o.automation_id = executions.automation_id and o.overlap_key = executions.overlap_key
            and (o.status = 'running' or (o.status = 'queued' and o.id < executions.id)))
      end
    order by executions.id limit ${limit}`.execute(tx.db);
  return rows;
}

/** The columns that select an automation's events. */
const LISTENING = [
  'id',
  'org_id',
  'project_id',
  'trigger',
  'filter',
  'after_sequence',
  'disabled_reason',
  'deleted_at',
] as const satisfies (keyof AutomationRow)[];
export type Listening = Pick<AutomationRow, (typeof LISTENING)[number]>;

/** The automations of some projects that wait for events. */
export async function findAutomationsOf(tx: Tx, projectIds: readonly string[]): Promise<Listening[]> {
  if (projectIds.length === 0) return [];
  return tx.db
    .selectFrom('automations')
    .select(LISTENING)
    .where('project_id', 'in', projectIds)
    .where(sql<boolean>`kind = 'event' and deleted_at is null and disabled_reason is null`)
    .orderBy('id')
    .execute();
}

/** The automation that created a thread or an execution, and the depth. */
export interface Maker {
  id: string;
  automationId: string;
  depth: number;
}

export async function findMakersOfExecutions(tx: Tx, ids: readonly string[]): Promise<Maker[]> {
  if (ids.length === 0) return [];
  return tx.db
    .selectFrom('executions')
    .select(['id', 'automation_id as automationId', 'depth'])
    .where('id', 'in', ids)
    .execute();
}

/** Threads of people are left out. A thread is kept for longer than its execution. */
export async function findMakersOfThreads(tx: Tx, ids: readonly string[]): Promise<Maker[]> {
  if (ids.length === 0) return [];
  const rows = await tx.db
    .selectFrom('threads as t')
    .leftJoin('executions as e', 'e.thread_id', 't.id')
    .select(['t.id', 't.automation_id', 'e.depth'])
    .where('t.id', 'in', ids)
    .where('t.automation_id', 'is not', null)
    .execute();
  return rows.map(({ id, automation_id: automationId, depth }) => ({
    id,
    automationId: automationId!,
    depth: depth ?? 1,
  }));
}
