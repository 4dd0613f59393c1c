/**
 * Loading an automation is authorization: it belongs to the caller's organization and to the key's projects, and
 * neither it nor its project is deleted.
 */
import type { Db } from '../db/database.ts';
import type { AutomationRow, ProjectRow } from '../db/schema.ts';
import type { EventScope, Tx } from '../db/transaction.ts';
import { ApiError, invalid, notFound } from '../http/errors.ts';
import { seesProject } from '../http/principal.ts';
import type { Principal } from '../http/principal.ts';
import { scopeOf } from '../projects/index.ts';
import { readExecution } from './store.ts';
import type { NewAutomation } from './schemas.ts';

interface Asked {
  principal: Principal;
  params: Record<string, string>;
}

interface LoadedAutomation {
  automation: AutomationRow;
  project: Pick<ProjectRow, 'kind' | 'repository_id'>;
  scope: EventScope;
}

/**
 * The automation that the path names. `update` locks it, and keeps its project from being deleted; executions may
 * begin meanwhile. Lock order: project, automation.
 */
export async function loadAutomation(
  db: Db | Tx['db'],
  { principal, params }: Asked,
  lock: 'none' | 'update' = 'none',
): Promise<LoadedAutomation> {
  let query = db
    .selectFrom('automations')
    .innerJoin('projects', 'projects.id', 'automations.project_id')
    .selectAll('automations')
    .select(['projects.kind as project_kind', 'projects.repository_id'])
    .where('automations.org_id', '=', principal.orgId)
    .where('automations.id', '=', params.automationId!)
    .where('automations.deleted_at', 'is', null)
    .where('projects.deleted_at', 'is', null);
  if (lock === 'update') query = query.forShare('projects').forNoKeyUpdate('automations');
  const row = await query.executeTakeFirst();
  if (!row || !seesProject(principal, row.project_id)) throw notFound('automation');
  const { project_kind: kind, repository_id, ...automation } = row;
  return {
    automation,
    project: { kind, repository_id },
    scope: scopeOf({ org_id: automation.org_id, id: automation.project_id, kind }),
  };
}

/** The execution that the path names, of an automation that the caller sees. */
export async function loadExecution(db: Db, automationId: string, id: string) {
  const execution = await readExecution(db, automationId, id);
  if (!execution) throw notFound('execution');
  return execution;
}

/** Refuses settings that the project does not support: events of an app, branches without a repository. */
export function requireProjectFits(
  project: LoadedAutomation['project'],
  given: Pick<Partial<NewAutomation>, 'trigger' | 'baseBranch' | 'pullRequest'>,
): void {
  if (project.kind === 'platform' && given.trigger?.kind === 'event')
    throw invalid({
      path: '/trigger/kind',
      message: 'must not be event in an app: its events are on its own feed',
    });
  const { baseBranch = null, pullRequest = 'none' } = given;
  if (project.repository_id === null && (baseBranch !== null || pullRequest !== 'none'))
    throw new ApiError(
      'repository_not_bound',
      'The project has no repository. Leave baseBranch out, and set pullRequest to none.',
    );
}
