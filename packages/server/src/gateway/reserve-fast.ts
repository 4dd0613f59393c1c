/**
 * The reservation of a call that can be paid as it is, in one statement: no limit cuts it, and its run has
 * called this model before. All other calls take `reserve`, with six.
 */
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { preparedAs } from '../db/prepared.ts';
import { LEASE_SECONDS } from './lease.ts';
import { lockedRows, threeRows, untangled } from './spending.ts';
import type { CallOf } from './reserve.ts';

export interface FastReserved {
  id: number;
  period: string;
  isLimited: boolean;
}

/**
 * Null when nothing was reserved: a limit is in the way, the run is not active, rows are not there yet, or
 * a limit holds and `unlimited` is asked for.
 */
export async function reserveFast(
  { db }: Pick<Context, 'db'>,
  call: CallOf,
  micros: number,
  unlimited: boolean,
): Promise<FastReserved | null> {
  // The month of the application's clock, held against the database's: where they differ, the slow way asks
  // the database.
  const period = new Date().toISOString().slice(0, 7);
  const { org_id: org, project_id: project, thread_id: thread, runId, provider, model } = call;
  const of = (scope: string) =>
    sql`(select spent_micros + reserved_micros + ${micros} from locked where scope_id = ${scope})`;
  const query = sql<{ id: number; limited: boolean }>`
    with locked as (${lockedRows(call, period)}
    ), limits as (
      select (select spend_limit_micros from threads where id = ${thread}) as thread, (select (settings->>'budgetMicros')::bigint from projects where id = ${project}) as project,
        (select (settings->>'budgetMicros')::bigint from organizations where id = ${org}) as organization
      from runs where id = ${runId} and status in ('running', 'waiting') and cancel_requested_at is null and to_char(now() at time zone 'UTC', 'YYYY-MM') = ${period}
    ), paid as (
      select coalesce(thread, project, organization) is not null as limited from limits
      where (select count(*) from locked) = 3 and (not ${unlimited}::boolean or coalesce(thread, project, organization) is null)
        and coalesce(${of(thread)} <= thread, true) and coalesce(${of(project)} <= project, true) and coalesce(${of(org)} <= organization, true)
    ), reserved as (
      update spending set reserved_micros = reserved_micros + ${micros} where ${threeRows(call, period)} and exists (select from paid)
    ), opened as (
      insert into model_calls (org_id, project_id, thread_id, run_id, provider, model, status, period, reserved_micros, lease_until)
      select ${org}, ${project}, ${thread}, ${runId}, ${provider}, ${model}, 'open', ${period}, ${micros}, clock_timestamp() + ${LEASE_SECONDS} * interval '1 second' from paid returning id
    )
    select opened.id, paid.limited from opened, paid`.compile(db);
  const { rows } = await untangled(() => db.executeQuery(preparedAs('reserve_call', query)));
  return rows[0] ? { id: rows[0].id, period, isLimited: rows[0].limited } : null;
}
