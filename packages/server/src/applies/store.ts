/** The only writer of `applies` and `repair_candidates`. */
import { sql } from 'kysely';
import type { Insertable, RawBuilder, UpdateObject } from 'kysely';
import type { Db } from '../db/database.ts';
import { countChanged } from '../db/purge.ts';
import type { Purge } from '../db/purge.ts';
import { json } from '../db/schema.ts';
import type { AppliesTable, ApplyRow, Database, Repair, RepairCandidatesTable } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { openRuns } from '../runs/index.ts';
import type { QueuedApply } from './outcome.ts';
import { applyChange, OPEN } from './state.ts';
import type { ApplyEvent, ApplyStatus } from './state.ts';

const hasStatus = (statuses: readonly ApplyStatus[]): RawBuilder<boolean> =>
  sql<boolean>`applies.status in (${sql.join(statuses.map((status) => sql.lit(status)))})`;

/** Applies that have not ended: queued, or under repair. */
const openApplies = hasStatus(OPEN);
/** Applies whose repair's run has not ended. */
const underRepair = sql<boolean>`exists (select from runs where runs.apply_id = applies.id and ${openRuns})`;
/** Applies that wait for their merge. */
const queuedApplies = sql<boolean>`${openApplies} and not ${underRepair}`;

export async function insertApply(
  tx: Tx,
  apply: Omit<Insertable<AppliesTable>, 'status'>,
): Promise<ApplyRow> {
  return tx.db
    .insertInto('applies')
    .values({ ...apply, status: 'queued' })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Every change of an apply's status. Undefined where the apply does not take the event. */
async function moveApply(
  tx: Tx,
  applyId: string,
  event: ApplyEvent,
  change: UpdateObject<Database, 'applies'>,
): Promise<ApplyRow | undefined> {
  const { from, to } = applyChange(event);
  return tx.db
    .updateTable('applies')
    .set({ ...change, status: to })
    .where('id', '=', applyId)
    .where(hasStatus(from))
    .returningAll()
    .executeTakeFirst();
}

/** How an apply ends. */
export interface ApplyEnd {
  event: Exclude<ApplyEvent, 'repair'>;
  error?: string | null;
  conflicts?: string[];
  /** The head that it was merged with; null when it was not merged. */
  headSourceId: string | null;
  /** The new head. */
  resultSourceId?: string;
}

/** Undefined where the apply has ended before. */
export async function endOpenApply(tx: Tx, applyId: string, end: ApplyEnd): Promise<ApplyRow | undefined> {
  return moveApply(tx, applyId, end.event, {
    error: end.error ?? null,
    conflicts: json(end.conflicts ?? []),
    head_source_id: end.headSourceId,
    result_source_id: end.resultSourceId ?? null,
    finished_at: sql<Date>`now()`,
  });
}

/** Adds a repair to an apply. The first one starts the time that all of them share. */
export async function addRepair(
  tx: Tx,
  apply: ApplyRow,
  { repair, conflicts, budgetSeconds }: { repair: Repair; conflicts: string[]; budgetSeconds: number },
): Promise<void> {
  await moveApply(tx, apply.id, 'repair', {
    repairs: json([...apply.repairs, repair]),
    conflicts: json(conflicts),
    repair_deadline: sql<Date>`coalesce(repair_deadline, now() + ${budgetSeconds} * interval '1 second')`,
  });
}

export async function setRepairs(tx: Tx, applyId: string, repairs: Repair[]): Promise<void> {
  await tx.db
    .updateTable('applies')
    .set({ repairs: json(repairs) })
    .where('id', '=', applyId)
    .execute();
}

/** The applies with the ids that `page` selects, newest first. */
export const findApplies = (db: Db, page: RawBuilder<{ id: string }>): Promise<ApplyRow[]> =>
  db
    .selectFrom('applies')
    .selectAll()
    .where('id', 'in', sql<string>`(select id from (${page}) as page)`)
    .orderBy('id', 'desc')
    .execute();

/** Locks an apply that has not ended. */
export async function lockOpenApply(tx: Tx, applyId: string): Promise<ApplyRow | undefined> {
  return tx.db
    .selectFrom('applies')
    .selectAll()
    .where('id', '=', applyId)
    .where(openApplies)
    .forUpdate()
    .executeTakeFirst();
}

/** A project's oldest apply that waits for its merge, with the head as it is now. */
export async function nextApply(db: Db, projectId: string): Promise<QueuedApply | undefined> {
  const row = await db
    .selectFrom('applies')
    .innerJoin('projects', 'projects.id', 'applies.project_id')
    .innerJoin('threads', 'threads.id', 'applies.thread_id')
    .selectAll('applies')
    .select(['projects.head_source_id as now_source_id', 'projects.head_revision as now_revision'])
    .where('applies.project_id', '=', projectId)
    .where(queuedApplies)
    .where('projects.deleted_at', 'is', null)
    .where('threads.deleted_at', 'is', null)
    .orderBy('applies.sequence')
    .limit(1)
    .executeTakeFirst();
  if (!row) return undefined;
  const { now_source_id: sourceId, now_revision: revision, ...apply } = row;
  return { apply, head: { sourceId: sourceId!, revision: revision! } };
}

/** Applies under repair whose time for repairs is over. */
export async function overdueRepairs(
  db: Db,
  limit: number,
): Promise<Pick<ApplyRow, 'id' | 'org_id' | 'project_id' | 'thread_id'>[]> {
  return db
    .selectFrom('applies')
    .select(['id', 'org_id', 'project_id', 'thread_id'])
    .where(openApplies)
    .where('repair_deadline', '<=', sql<Date>`now()`)
    .where(underRepair)
    .limit(limit)
    .execute();
}

/** Projects with an apply that waits for its merge, and no job that does it. */
export async function stalledQueues(
  db: Db,
  limit: number,
): Promise<Pick<ApplyRow, 'org_id' | 'project_id'>[]> {
  return db
    .selectFrom('applies')
    .innerJoin('projects', 'projects.id', 'applies.project_id')
    .select(['applies.org_id', 'applies.project_id'])
    .distinct()
    .where(queuedApplies)
    .where('projects.deleted_at', 'is', null)
    .where(sql<boolean>`not exists (select from jobs where jobs.key = 'apply:' || applies.project_id)`)
    .limit(limit)
    .execute();
}

export async function insertCandidate(tx: Tx, candidate: Insertable<RepairCandidatesTable>): Promise<void> {
  await tx.db.insertInto('repair_candidates').values(candidate).execute();
}

/** Deletes the candidate that a repair left. Its contents stay with the project. */
export async function deleteCandidate(tx: Tx, applyId: string): Promise<void> {
  await tx.db.deleteFrom('repair_candidates').where('apply_id', '=', applyId).execute();
}

/** Unlists the applies of a project that is being deleted. */
export async function unlistApplies(tx: Tx, projectId: string): Promise<void> {
  await tx.db
    .updateTable('applies')
    .set({ listed: false })
    .where('project_id', '=', projectId)
    .where('listed', '=', true)
    .execute();
}

/** What repairs of deleted threads left. */
export const purgeCandidates: Purge = (db, threadIds, limit) =>
  countChanged(
    db,
    sql`delete from repair_candidates where apply_id in (
      select c.apply_id from applies a join repair_candidates c on c.apply_id = a.id where a.thread_id = any(${threadIds}::text[]) limit ${limit})`,
  );

/**
 * Empties the applies of deleted threads, which the history of heads names: reports, paths, and what follows
 * the code of an error.
 */
export const purgeApplies: Purge = (db, threadIds, limit) =>
  countChanged(
    db,
    sql`update applies set repairs = '[]', resolutions = '[]', conflicts = '[]', error = split_part(error, ':', 1) || ':' where id in (
      select id from applies where thread_id = any(${threadIds}::text[])
        and (repairs <> '[]' or resolutions <> '[]' or conflicts <> '[]' or error not like '%:') limit ${limit})`,
  );
