/**
 * Loading a variable = being allowed to see its level: the app's by permissions of the app, the organization's
 * by a session of its owners and admins. An operation's `access` says which.
 */
import type { Db } from '../db/database.ts';
import type { VariableRow } from '../db/schema.ts';
import type { EventScope, Tx } from '../db/transaction.ts';
import { notFound } from '../http/errors.ts';
import type { Principal } from '../http/principal.ts';
import { loadProject, scopeOf } from '../projects/index.ts';

/** Whose variables. */
export interface Level {
  org_id: string;
  /** null: the organization's. */
  project_id: string | null;
  /** The feed of its writes. */
  scope?: EventScope;
}

type Asked = Parameters<typeof loadProject>[1];

/** Lock `update`: to write, since a level's bounds count all its variables. */
export async function levelOfApp(
  db: Db | Tx['db'],
  call: Asked,
  lock: 'none' | 'update' = 'none',
): Promise<Level> {
  const project = await loadProject(db, call, lock);
  return { org_id: project.org_id, project_id: project.id, scope: scopeOf(project) };
}

export const levelOfOrganization = ({ orgId }: Principal): Level => ({ org_id: orgId, project_id: null });

/** The same, locked to write. Throws `organization_not_found` once it is deleted. */
export async function lockOrganizationLevel(tx: Tx, principal: Principal): Promise<Level> {
  const organization = await tx.db
    .selectFrom('organizations')
    .select('id')
    .where('id', '=', principal.orgId)
    .where('deleted_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (!organization) throw notFound('organization');
  return levelOfOrganization(principal);
}

/** Throws `variable_not_found`. */
export async function loadVariable(db: Db | Tx['db'], level: Level, name: string): Promise<VariableRow> {
  const variable = await findVariable(db, level, name);
  if (!variable) throw notFound('variable');
  return variable;
}

export const findVariable = (
  db: Db | Tx['db'],
  { org_id: orgId, project_id: projectId }: Level,
  name: string,
): Promise<VariableRow | undefined> =>
  db
    .selectFrom('variables')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('project_id', 'is not distinct from', projectId)
    .where('name', '=', name)
    .executeTakeFirst();
