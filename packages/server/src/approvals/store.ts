/** The tables `approvals` and `remembered_decisions`. */
import { sql } from 'kysely';
import type { Insertable } from 'kysely';
import type { Db } from '../db/database.ts';
import { countChanged } from '../db/purge.ts';
import type { Purge } from '../db/purge.ts';
import type { ApprovalRow, ApprovalsTable, RememberedDecisionsTable } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { approvalChange } from './state.ts';
import type { Resolution } from './state.ts';

/** Open questions. */
export const pendingApprovals = sql<boolean>`approvals.status = ${sql.lit(approvalChange('expire').from)}`;
/** Questions that were answered or are over. */
export const resolvedApprovals = sql<boolean>`not ${pendingApprovals}`;
/** Open questions whose time is not over, by the database's clock. */
export const answerableApprovals = sql<boolean>`${pendingApprovals} and approvals.expires_at > now()`;
/** Open questions whose time is over. */
export const overdueApprovals = sql<boolean>`${pendingApprovals} and approvals.expires_at <= now()`;

export async function insertApproval(
  tx: Tx,
  approval: Omit<Insertable<ApprovalsTable>, 'status' | 'expires_at'>,
  timeoutSeconds: number,
): Promise<void> {
  await tx.db
    .insertInto('approvals')
    .values({
      ...approval,
      status: 'pending',
      expires_at: sql<Date>`now() + ${timeoutSeconds} * interval '1 second'`,
    })
    .execute();
}

type Resolved = Pick<ApprovalRow, 'id' | 'tool_id'>;

/** Resolves those of `ids` that are open; returns them. */
export async function resolvePending(
  tx: Tx,
  ids: string[],
  { resolution, by }: { resolution: Resolution; by: string | null },
): Promise<Resolved[]> {
  return tx.db
    .updateTable('approvals')
    .set({ status: approvalChange(resolution).to, resolved_by: by, resolved_at: sql<Date>`now()` })
    .where('id', 'in', ids)
    .where(pendingApprovals)
    .returning(['id', 'tool_id'])
    .execute();
}

/** Expires a run's open questions; returns them. */
export async function expirePending(tx: Tx, runId: string): Promise<Resolved[]> {
  return tx.db
    .updateTable('approvals')
    .set({ status: approvalChange('expire').to, resolved_at: sql<Date>`now()` })
    .where('run_id', '=', runId)
    .where(pendingApprovals)
    .returning(['id', 'tool_id'])
    .execute();
}

/** Whether a run has an open question. */
export async function hasPending(db: Db | Tx['db'], runId: string): Promise<boolean> {
  const open = await db
    .selectFrom('approvals')
    .select('id')
    .where('run_id', '=', runId)
    .where(pendingApprovals)
    .limit(1)
    .executeTakeFirst();
  return open !== undefined;
}

/** Remembers an answer for a tool and a command of a thread; the last answer counts. */
export async function rememberDecision(
  tx: Tx,
  decision: Insertable<RememberedDecisionsTable>,
): Promise<void> {
  await tx.db
    .insertInto('remembered_decisions')
    .values(decision)
    .onConflict((c) => c.columns(['thread_id', 'tool', 'command']).doUpdateSet({ allow: decision.allow }))
    .execute();
}

/** Questions of deleted threads. */
export const purgeApprovals: Purge = (db, threadIds, limit) =>
  countChanged(
    db,
    sql`delete from approvals where id in (select id from approvals where thread_id = any(${threadIds}::text[]) limit ${limit})`,
  );

/** What was remembered for deleted threads. */
export const purgeDecisions: Purge = (db, threadIds, limit) =>
  countChanged(
    db,
    sql`delete from remembered_decisions where ctid = any(array(select ctid from remembered_decisions where thread_id = any(${threadIds}::text[]) limit ${limit}))`,
  );
