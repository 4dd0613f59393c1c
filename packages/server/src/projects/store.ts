/** The only writer of `projects` and `head_history`. */
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { countChanged } from '../db/purge.ts';
import type { Purge } from '../db/purge.ts';
import { json } from '../db/schema.ts';
import type { ProjectRow, StoredSettings } from '../db/schema.ts';
import { containsText, endOfSearch, idBytes } from '../db/search.ts';
import type { Tx } from '../db/transaction.ts';
import type { Searched } from '../http/cursors.ts';
import { ApiError } from '../http/errors.ts';
import { newId } from '../ids.ts';

interface NewProject {
  orgId: string;
  kind: 'platform' | 'direct';
  name: string;
  externalId?: string | null;
  metadata?: Record<string, string>;
  repository?: { id: string; fullName: string };
  defaultBranch?: string | null;
}

/** Throws `external_id_taken` where the unique index refuses; rethrows all other errors. */
function taken(error: unknown): never {
  if ((error as { constraint?: string }).constraint === 'projects_external_id')
    throw new ApiError(
      'external_id_taken',
      'Another app has this externalId. Use another one, or clear it there first.',
    );
  throw error;
}

export async function insertProject(tx: Tx, project: NewProject): Promise<ProjectRow> {
  return tx.db
    .insertInto('projects')
    .values({
      org_id: project.orgId,
      id: newId('prj'),
      kind: project.kind,
      name: project.name,
      external_id: project.externalId ?? null,
      metadata: json(project.metadata ?? {}),
      repository_id: project.repository?.id ?? null,
      repo_full_name: project.repository?.fullName ?? null,
      default_branch: project.defaultBranch ?? null,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
    .catch(taken);
}

interface ProjectChange {
  name?: string;
  externalId?: string | null;
  metadata?: Record<string, string>;
  defaultBranch?: string | null;
}

/** Writes the change and increments `version`. */
export async function updateProject(tx: Tx, id: string, change: ProjectChange): Promise<ProjectRow> {
  return tx.db
    .updateTable('projects')
    .set({
      ...(change.name === undefined ? {} : { name: change.name }),
      ...(change.externalId === undefined ? {} : { external_id: change.externalId }),
      ...(change.metadata === undefined ? {} : { metadata: json(change.metadata) }),
      ...(change.defaultBranch === undefined ? {} : { default_branch: change.defaultBranch }),
      version: sql<number>`version + 1`,
      updated_at: sql<Date>`now()`,
    })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
    .catch(taken);
}

export async function markProjectDeleted(tx: Tx, id: string): Promise<ProjectRow> {
  return tx.db
    .updateTable('projects')
    .set({ deleted_at: sql<Date>`now()`, updated_at: sql<Date>`now()`, version: sql<number>`version + 1` })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function setProjectSettings(tx: Tx, projectId: string, settings: StoredSettings): Promise<void> {
  await tx.db
    .updateTable('projects')
    .set({ settings: json(settings) })
    .where('id', '=', projectId)
    .execute();
}

/** Projects show the name that their repository has now. One statement on `db`: it needs no transaction. */
export async function renameRepository(db: Db | Tx['db'], id: string, fullName: string): Promise<void> {
  await db
    .updateTable('projects')
    .set({ repo_full_name: fullName })
    .where('repository_id', '=', id)
    .where('deleted_at', 'is', null)
    .where('repo_full_name', '<>', fullName)
    .execute();
}

/** Returns the position of the project's next apply in its queue. */
export async function nextApplySequence(tx: Tx, projectId: string): Promise<number> {
  const { apply_sequence: sequence } = await tx.db
    .updateTable('projects')
    .set({ apply_sequence: sql<number>`apply_sequence + 1` })
    .where('id', '=', projectId)
    .returning('apply_sequence')
    .executeTakeFirstOrThrow();
  return sequence;
}

/** Returns the number of the project's next task without an issue. Numbers are not reused. */
export async function nextTaskNumber(tx: Tx, projectId: string): Promise<number> {
  const { task_number: number } = await tx.db
    .updateTable('projects')
    .set({ task_number: sql<number>`task_number + 1` })
    .where('id', '=', projectId)
    .returning('task_number')
    .executeTakeFirstOrThrow();
  return number;
}

/** Points a locked project's head at a source, as its next revision; returns the new row. */
export async function setHead(tx: Tx, project: ProjectRow, sourceId: string): Promise<ProjectRow> {
  return tx.db
    .updateTable('projects')
    .set({
      head_source_id: sourceId,
      head_revision: (project.head_revision ?? 0) + 1,
      head_updated_at: sql<Date>`now()`,
    })
    .where('id', '=', project.id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Records the commit that a locked project's head is moved to. */
export async function setHeadCommit(tx: Tx, projectId: string, commitSha: string): Promise<void> {
  await tx.db
    .updateTable('projects')
    .set({ head_commit_sha: commitSha })
    .where('id', '=', projectId)
    .execute();
}

/** Records the head that a project has now; `applyId` is null for its initialization. */
export async function insertHeadRevision(tx: Tx, project: ProjectRow, applyId: string | null): Promise<void> {
  await tx.db
    .insertInto('head_history')
    .values({
      org_id: project.org_id,
      project_id: project.id,
      revision: project.head_revision!,
      source_id: project.head_source_id!,
      apply_id: applyId,
    })
    .execute();
}

/** Whether a source is, or was, the head of the project. */
export async function isInHeadHistory(
  db: Db | Tx['db'],
  projectId: string,
  sourceId: string,
): Promise<boolean> {
  const revision = await db
    .selectFrom('head_history')
    .select('revision')
    .where('project_id', '=', projectId)
    .where('source_id', '=', sourceId)
    .limit(1)
    .executeTakeFirst();
  return revision !== undefined;
}

/** Live projects after `after`, newest first; a search reads part of the list. */
export async function listProjects(
  db: Db,
  filter: {
    orgId: string;
    projectIds: ReadonlySet<string> | null;
    kind?: 'platform' | 'direct';
    externalId?: string;
    repositoryId?: string;
    /** Any part of the name. */
    query?: string;
  },
  after: string | null,
  limit: number,
): Promise<Searched<ProjectRow>> {
  const id = idBytes('id');
  let query = db
    .selectFrom('projects')
    .selectAll()
    .where('org_id', '=', filter.orgId)
    .where('deleted_at', 'is', null);
  if (filter.projectIds) query = query.where('id', 'in', [...filter.projectIds, '']);
  if (filter.kind) query = query.where('kind', '=', filter.kind);
  if (filter.externalId !== undefined) query = query.where('external_id', '=', filter.externalId);
  if (filter.repositoryId !== undefined) query = query.where('repository_id', '=', filter.repositoryId);
  if (after !== null) query = query.where(id, '<', after);
  let readTo: string | null = null;
  if (filter.query !== undefined) {
    query = query.where(containsText('name', filter.query));
    readTo = await endOfSearch(db, 'projects', { column: 'org_id', id: filter.orgId }, after);
    if (readTo !== null) query = query.where(id, '>=', readTo);
  }
  return { rows: await query.orderBy(id, 'desc').limit(limit).execute(), readTo };
}

/** The histories of heads of deleted projects. */
export const purgeHeadHistory: Purge = (db, projectIds, limit) =>
  countChanged(
    db,
    sql`delete from head_history where ctid = any(array(select ctid from head_history where project_id = any(${projectIds}::text[]) limit ${limit}))`,
  );

/** Nothing of a deleted project's sources and builds is left. */
export async function markProjectEmptied(db: Db, projectId: string): Promise<void> {
  await db
    .updateTable('projects')
    .set({ emptied_at: sql<Date>`now()` })
    .where('id', '=', projectId)
    .execute();
}

/** Empties deleted projects, of which nothing else is left but what usage counts. */
export async function markProjectsPurged(db: Db, projectIds: readonly string[]): Promise<void> {
  await db
    .updateTable('projects')
    .set({
      name: '',
      external_id: null,
      metadata: json({}),
      settings: json({}),
      repository_id: null,
      repo_full_name: null,
      default_branch: null,
      purged_at: sql<Date>`now()`,
    })
    .where('id', 'in', projectIds)
    .execute();
}
