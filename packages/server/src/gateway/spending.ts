/**
 * The rows that money is counted in, for a run's call: its organization and its project in a UTC month, its
 * thread for its life. They are locked in this order, after the call's own row and before the run's. `spent
 * + reserved` is never above a limit.
 */
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import type { RunRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { resolveSettings } from '../settings/index.ts';

export type Scoped = Pick<RunRow, 'org_id' | 'project_id' | 'thread_id'>;

export interface Limit {
  scope: 'organization' | 'project' | 'thread';
  micros: number;
}

const WHOSE = {
  organization: "The organization's budget for this month",
  project: "The app's budget for this month",
  thread: "The thread's spend limit",
} as const;
const REMEDY = {
  organization: 'Raise it, or wait for the next month.',
  project: 'Raise it, or wait for the next month.',
  thread: 'Raise it to go on.',
} as const;

export const isReached = (scope: Limit['scope']) => `${WHOSE[scope]} is reached. ${REMEDY[scope]}`;
export const leavesTooLittle = (scope: Limit['scope'], left: number) =>
  `${WHOSE[scope]} leaves ${left} micro-units of USD, too little for this call. ${REMEDY[scope]}`;
export const unpriced = (provider: string, model: string) =>
  `The price of the model ${provider}/${model} is not known, and a spend limit or budget holds. Set its price in the service's configuration file (prices), or choose another model.`;

/** The run's limits, in the order in which a reached one is told, and the month of now. */
export async function readLimits(db: Db | Tx['db'], runId: string) {
  const row = await db
    .selectFrom('runs as r')
    .innerJoin('threads as t', 't.id', 'r.thread_id')
    .innerJoin('projects as p', 'p.id', 'r.project_id')
    .innerJoin('organizations as o', 'o.id', 'r.org_id')
    .select([
      'r.status',
      'r.cancel_requested_at',
      'r.prices',
      't.spend_limit_micros',
      'p.settings as own',
      'o.settings as organization',
      sql<string>`to_char(now() at time zone 'UTC', 'YYYY-MM')`.as('period'),
    ])
    .where('r.id', '=', runId)
    .executeTakeFirst();
  if (!row) return null;
  const { budgetMicros, organizationBudgetMicros } = resolveSettings(row.own, row.organization);
  const all: [Limit['scope'], number | null][] = [
    ['thread', row.spend_limit_micros],
    ['project', budgetMicros],
    ['organization', organizationBudgetMicros],
  ];
  return {
    ...row,
    limits: all.flatMap(([scope, micros]): Limit[] => (micros === null ? [] : [{ scope, micros }])),
  };
}

export const scopeIds = (of: Scoped): Record<Limit['scope'], string> => ({
  organization: of.org_id,
  project: of.project_id,
  thread: of.thread_id,
});

const SCOPES = ['organization', 'project', 'thread'] as const;

/** Locks the three rows, making those that are not there. */
export async function lockSpending(
  db: Tx['db'],
  of: Scoped,
  period: string,
): Promise<Record<Limit['scope'], { spent: number; reserved: number }>> {
  const rows = await locked(db, of, period);
  if (rows.length < SCOPES.length) {
    const ids = scopeIds(of);
    await db
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
    rows.splice(0, rows.length, ...(await locked(db, of, period)));
  }
  const byId = new Map(
    rows.map((row) => [row.scope_id, { spent: row.spent_micros, reserved: row.reserved_micros }]),
  );
  const ids = scopeIds(of);
  return {
    organization: byId.get(ids.organization)!,
    project: byId.get(ids.project)!,
    thread: byId.get(ids.thread)!,
  };
}

const locked = async (db: Tx['db'], of: Scoped, period: string) =>
  (
    await sql<{
      scope_id: string;
      spent_micros: number;
      reserved_micros: number;
    }>`${lockedRows(of, period)}`.execute(db)
  ).rows;

/** Selects the rows that are there, locked in their order, as they are when they are locked. */
export const lockedRows = (
  of: Scoped,
  period: string,
) => sql`select scope_id, period, spent_micros, reserved_micros from spending where ${threeRows(of, period)}
  order by array_position(array[${of.org_id}, ${of.project_id}, ${of.thread_id}], scope_id) for update`;

export const threeRows = (of: Scoped, period: string) =>
  sql`(scope_id, period) in ((${of.org_id}, ${period}), (${of.project_id}, ${period}), (${of.thread_id}, ''))`;

/** Adds to the three rows, which the caller has locked. */
export async function addSpending(
  db: Tx['db'],
  of: Scoped,
  period: string,
  { spent, reserved }: { spent: number; reserved: number },
): Promise<void> {
  await sql`update spending set spent_micros = spent_micros + ${spent}, reserved_micros = reserved_micros + ${reserved} where ${threeRows(of, period)}`.execute(
    db,
  );
}

const TANGLED = new Set(['40001', '40P01']);
const ATTEMPTS = 4;

/** Runs a statement of its own again where it and others waited for each other, at most three times. */
export async function untangled<T>(statement: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await statement();
    } catch (error) {
      if (attempt >= ATTEMPTS || !TANGLED.has((error as { code?: string }).code ?? '')) throw error;
    }
  }
}
