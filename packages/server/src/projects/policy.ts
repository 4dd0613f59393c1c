/**
 * Loading a project = being allowed to see it. The operation's permission was checked before its body was
 * read (http/authorize.ts); here: the organization, the key's projects, and that it is not deleted. Another
 * tenant's project is one that does not exist.
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
 * The project that the path names. `lock`: for update (moves its head, deletes it) or share (must not
 * vanish meanwhile). The update lock lets foreign keys through: a job that holds a thread may store a
 * source while a call waits for that thread with the project locked.
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

/** Where a project's events go. */
export const scopeOf = (project: Pick<ProjectRow, 'org_id' | 'id' | 'kind'>): EventScope => ({
  orgId: project.org_id,
  projectId: project.id,
  feed: project.kind,
});

export const headNotInitialized = () =>
  new ApiError(
    'head_not_initialized',
    'The app has no head yet. Import a source and initialize the head with it.',
  );
