/**
 * Loading a project = being allowed to see it: it is of the caller's organization and of the key's projects,
 * and not deleted. http/authorize.ts checks the operation's permission before the body is read. To another
 * tenant a project does not exist.
 */
import type { Principal } from '../http/principal.ts';
import { seesProject } from '../http/principal.ts';
import type { Db } from '../db/database.ts';
import type { ProjectRow } from '../db/schema.ts';
import type { EventScope, Tx } from '../db/transaction.ts';
import { ApiError, notFound } from '../http/errors.ts';

interface Asked {
  principal: Principal;
  api: 'platform' | 'direct';
  params: Record<string, string>;
}

/**
 * Loads the project that the path names. The lock is `update` to move its head or delete it, and `share` to
 * keep it from being deleted meanwhile. The update lock lets foreign keys through: a job that holds a thread
 * may store a source while a call has locked the project and waits for that thread.
 */
export async function loadProject(
  db: Db | Tx['db'],
  call: Asked,
  lock: 'none' | 'share' | 'update' = 'none',
  id = call.params.appId!,
): Promise<ProjectRow> {
  let query = db
    .selectFrom('projects')
    .selectAll()
    .where('org_id', '=', call.principal.orgId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null);
  if (call.api === 'platform') query = query.where('kind', '=', 'platform');
  if (lock === 'update') query = query.forNoKeyUpdate();
  if (lock === 'share') query = query.forShare();
  const project = await query.executeTakeFirst();
  if (!project || !seesProject(call.principal, project.id))
    throw notFound(call.api === 'platform' ? 'app' : 'project');
  return project;
}

/** Locks a project for a job, to move its head; 404 where it was deleted meanwhile. */
export async function lockProject(tx: Tx, id: string): Promise<ProjectRow> {
  const project = await tx.db
    .selectFrom('projects')
    .selectAll()
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (!project) throw notFound('project');
  return project;
}

/** Keeps a project from being deleted while a job works in it; undefined where it was deleted meanwhile. */
export const keepProject = (tx: Tx, id: string): Promise<ProjectRow | undefined> =>
  tx.db
    .selectFrom('projects')
    .selectAll()
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .forShare()
    .executeTakeFirst();

/** The feed of a project's events. */
export const scopeOf = (project: Pick<ProjectRow, 'org_id' | 'id' | 'kind'>): EventScope => ({
  orgId: project.org_id,
  projectId: project.id,
  feed: project.kind,
});

/** Refuses what a project with a repository does not take: its head follows a branch (409). */
export function requireUnbound({ repository_id: repositoryId }: Pick<ProjectRow, 'repository_id'>): void {
  if (repositoryId !== null)
    throw new ApiError(
      'repository_bound',
      'The project has a repository, whose default branch is its head. Work reaches it by pull requests.',
    );
}

export const headNotInitialized = () =>
  new ApiError(
    'head_not_initialized',
    'The app has no head yet. Import a source and initialize the head with it.',
  );
