/**
 * Loading a skill = being allowed to see its level: the app's by permissions of the app, the organization's by
 * a session of its owners and admins. An operation's `access` says which.
 */
import type { Db } from '../db/database.ts';
import type { SkillRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import type { Level } from '../environment/index.ts';
import { notFound } from '../http/errors.ts';

/** Throws `skill_not_found`. */
export async function loadSkill(db: Db | Tx['db'], level: Level, name: string): Promise<SkillRow> {
  const skill = await findSkill(db, level, name);
  if (!skill) throw notFound('skill');
  return skill;
}

export const findSkill = (
  db: Db | Tx['db'],
  { org_id: orgId, project_id: projectId }: Level,
  name: string,
): Promise<SkillRow | undefined> =>
  db
    .selectFrom('skills')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('project_id', 'is not distinct from', projectId)
    .where('name', '=', name)
    .executeTakeFirst();
