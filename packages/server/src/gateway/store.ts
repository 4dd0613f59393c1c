/**
 * The tables `spending` and `model_calls`.
 *
 * A run's call counts in three rows of spending: its organization's and its project's of a UTC month, and its
 * thread's. They are locked in this order, after the call's row and before the run's. `spent + reserved` is
 * never above a limit.
 *
 * The process that relays a call renews its lease, so an open call whose lease is over is lost.
 */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { Db } from '../db/database.ts';
import { preparedAs } from '../db/prepared.ts';
import type { ModelCallRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { addCallToRun, callingRuns } from '../runs/index.ts';
import type { CallCost } from '../runs/index.ts';
import { SCOPES, scopeIds } from '../usage/index.ts';
import type { Limit, Scoped } from '../usage/index.ts';
import { callChange } from './state.ts';

export interface NewCall extends Scoped {
  runId: string;
  provider: string;
  model: string;
}

/** A lease starts when the rows of its money are locked, not when the wait for them did. */
const LEASE_SECONDS = 20;
const newLease = sql<Date>`clock_timestamp() + ${LEASE_SECONDS} * interval '1 second'`;
const { from: OPEN, to: SETTLED } = callChange('settle');
const openCalls = sql<boolean>`model_calls.status = ${sql.lit(OPEN)}`;
const lostCalls = sql<boolean>`${openCalls} and model_calls.lease_until < now()`;

const spendingRows = (of: Scoped, period: string) =>
  sql`(scope_id, period) in ((${of.org_id}, ${period}), (${of.project_id}, ${period}), (${of.thread_id}, ''))`;

/** Selects the rows that are there, locked in their order, as they are when they are locked. */
const lockedRows = (of: Scoped, period: string) => sql<{
  scope_id: string;
  spent_micros: number;
  reserved_micros: number;
}>`
  select scope_id, period, spent_micros, reserved_micros from spending where ${spendingRows(of, period)}
  order by array_position(array[${of.org_id}, ${of.project_id}, ${of.thread_id}], scope_id) for update`;

/** Locks the three rows and makes those that are missing. */
export async function lockSpending(
  tx: Tx,
  of: Scoped,
  period: string,
): Promise<Record<Limit['scope'], { spent: number; reserved: number }>> {
  const ids = scopeIds(of);
  let { rows } = await lockedRows(of, period).execute(tx.db);
  if (rows.length < SCOPES.length) {
    await tx.db
      .insertInto('spending')
      .values(
        SCOPES.map((scope) => ({
          org_id: of.org_id,
          scope_id: ids[scope],
          period: scope === 'thread' ? '' : period,
        })),
      )
      .onConflict((oc) => oc.doNothing())
      .execute();
    ({ rows } = await lockedRows(of, period).execute(tx.db));
  }
  const byId = new Map(
    rows.map((row) => [row.scope_id, { spent: row.spent_micros, reserved: row.reserved_micros }]),
  );
  return {
    organization: byId.get(ids.organization)!,
    project: byId.get(ids.project)!,
    thread: byId.get(ids.thread)!,
  };
}

/** Reserves money in the three rows, which the caller has locked, and opens the call. Returns its id. */
export async function openCall(tx: Tx, call: NewCall, period: string, micros: number): Promise<number> {
  await sql`update spending set reserved_micros = reserved_micros + ${micros} where ${spendingRows(call, period)}`.execute(
    tx.db,
  );
  const { id } = await tx.db
    .insertInto('model_calls')
    .values({
      org_id: call.org_id,
      project_id: call.project_id,
      thread_id: call.thread_id,
      run_id: call.runId,
      provider: call.provider,
      model: call.model,
      status: OPEN,
      period,
      reserved_micros: micros,
      lease_until: newLease,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/**
 * Reserves money and opens the call in one statement, as agents wait for it. Null when nothing was
 * reserved: a limit is in the way, the run is not active, rows are missing, the month is another one, or a
 * limit holds and `isUnlimited` is asked for.
 */
export async function openCallAtOnce(
  db: Db,
  { org_id: org, project_id: project, thread_id: thread, runId, provider, model }: NewCall,
  { period, micros, isUnlimited }: { period: string; micros: number; isUnlimited: boolean },
): Promise<{ id: number; isLimited: boolean } | null> {
  const scoped = { org_id: org, project_id: project, thread_id: thread };
  const of = (scope: string) =>
    sql`(select spent_micros + reserved_micros + ${micros} from locked where scope_id = ${scope})`;
  const query = sql<{ id: number; limited: boolean }>`
    with locked as (${lockedRows(scoped, period)}
    ), limits as (
      select (select spend_limit_micros from threads where id = ${thread}) as thread, (select (settings->>'budgetMicros')::bigint from projects where id = ${project}) as project,
        (select (settings->>'budgetMicros')::bigint from organizations where id = ${org}) as organization
      from runs where id = ${runId} and ${callingRuns} and to_char(now() at time zone 'UTC', 'YYYY-MM') = ${period}
    ), paid as (
      select coalesce(thread, project, organization) is not null as limited from limits
      where (select count(*) from locked) = 3 and (not ${isUnlimited}::boolean or coalesce(thread, project, organization) is null)
        and coalesce(${of(thread)} <= thread, true) and coalesce(${of(project)} <= project, true) and coalesce(${of(org)} <= organization, true)
    ), reserved as (
      update spending set reserved_micros = reserved_micros + ${micros} where ${spendingRows(scoped, period)} and exists (select from paid)
    ), opened as (
      insert into model_calls (org_id, project_id, thread_id, run_id, provider, model, status, period, reserved_micros, lease_until)
      select ${org}, ${project}, ${thread}, ${runId}, ${provider}, ${model}, ${sql.lit(OPEN)}, ${period}, ${micros}, ${newLease} from paid returning id
    )
    select opened.id, paid.limited from opened, paid`;
  const [opened] = await runAlone(db, 'reserve_call', query);
  return opened ? { id: opened.id, isLimited: opened.limited } : null;
}

export type OpenCall = Scoped & { id: number; runId: string; period: string };

/**
 * Settles an open call at what it cost; false when it is settled already. One statement, as agents wait for
 * it. Each part reads the one before, so that rows are locked in their order: the call's, the three of its
 * scopes, the run's.
 */
export async function settleOpenCall(
  db: Db,
  call: OpenCall,
  outcome: string,
  cost: CallCost,
): Promise<boolean> {
  const query = sql<{ settled: number }>`
    with call as (
      update model_calls set status = ${sql.lit(SETTLED)}, outcome = ${outcome}, cost_micros = ${cost.micros}, input_tokens = ${cost.inputTokens},
        output_tokens = ${cost.outputTokens}, cached_tokens = ${cost.cachedTokens}, settled_at = now()
      where id = ${call.id} and ${openCalls} returning reserved_micros
    ), locked as (${lockedRows(call, call.period)}
    ), spent as (
      update spending s set spent_micros = s.spent_micros + ${cost.micros}, reserved_micros = s.reserved_micros - call.reserved_micros
      from call, locked l where s.scope_id = l.scope_id and s.period = l.period returning 1
    ), run as (${addCallToRun(call.runId, cost)} and (select count(*) from spent) > 0
    )
    select count(*) as settled from call`;
  const [row] = await runAlone(db, 'settle_call', query);
  return row!.settled > 0;
}

/** Keeps calls open. */
export async function renewCalls(db: Db, ids: number[]): Promise<void> {
  await db
    .updateTable('model_calls')
    .set({ lease_until: sql<Date>`now() + ${LEASE_SECONDS} * interval '1 second'` })
    .where('id', 'in', ids)
    .where(openCalls)
    .execute();
}

/** Open calls whose process died, those first whose lease ended first. */
export async function readLostCalls(
  db: Db,
  limit: number,
): Promise<
  Pick<ModelCallRow, 'id' | 'org_id' | 'project_id' | 'thread_id' | 'run_id' | 'period' | 'reserved_micros'>[]
> {
  return db
    .selectFrom('model_calls')
    .select(['id', 'org_id', 'project_id', 'thread_id', 'run_id', 'period', 'reserved_micros'])
    .where(lostCalls)
    .orderBy('lease_until')
    .limit(limit)
    .execute();
}

const TANGLED = new Set(['40001', '40P01']);
const ATTEMPTS = 4;

/**
 * Runs a prepared statement that is its own transaction, at most three times more where it and others
 * waited for each other.
 */
async function runAlone<Row>(db: Db, name: string, statement: RawBuilder<Row>): Promise<Row[]> {
  const query = preparedAs(name, statement.compile(db));
  for (let attempt = 1; ; attempt++) {
    try {
      return (await db.executeQuery(query)).rows;
    } catch (error) {
      if (attempt >= ATTEMPTS || !TANGLED.has((error as { code?: string }).code ?? '')) throw error;
    }
  }
}
