/** The limits of what a run may spend: its thread's, its project's and its organization's. */
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import type { RunRow, StoredSettings } from '../db/schema.ts';
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

/** The run's limits, in the order in which a reached one is reported, and the current month. */
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
  return row ? { ...row, limits: limitsIn(row) } : null;
}

/** The same limits for a thread, before a run. */
export async function readThreadLimits(db: Db | Tx['db'], threadId: string) {
  const row = await db
    .selectFrom('threads as t')
    .innerJoin('projects as p', 'p.id', 't.project_id')
    .innerJoin('organizations as o', 'o.id', 't.org_id')
    .select([
      't.spend_limit_micros',
      'p.settings as own',
      'o.settings as organization',
      sql<string>`to_char(now() at time zone 'UTC', 'YYYY-MM')`.as('period'),
    ])
    .where('t.id', '=', threadId)
    .executeTakeFirst();
  return row ? { period: row.period, limits: limitsIn(row) } : null;
}

interface Limiting {
  spend_limit_micros: number | null;
  own: StoredSettings;
  organization: StoredSettings;
}

function limitsIn(row: Limiting): Limit[] {
  const { budgetMicros, organizationBudgetMicros } = resolveSettings(row.own, row.organization);
  const all: [Limit['scope'], number | null][] = [
    ['thread', row.spend_limit_micros],
    ['project', budgetMicros],
    ['organization', organizationBudgetMicros],
  ];
  return all.flatMap(([scope, micros]): Limit[] => (micros === null ? [] : [{ scope, micros }]));
}

export const scopeIds = (of: Scoped): Record<Limit['scope'], string> => ({
  organization: of.org_id,
  project: of.project_id,
  thread: of.thread_id,
});

export const SCOPES = ['organization', 'project', 'thread'] as const;
