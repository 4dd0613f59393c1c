import type { Level } from '../environment/index.ts';
import { page } from '../http/cursors.ts';
import type { Call } from '../http/operation.ts';
import { skillView } from './view.ts';

/** One page of a level's skills, by the bytes of their names. */
export async function pageOfLevel(
  { ctx, query }: Call<{ limit?: number; cursor?: string }>,
  { org_id: orgId, project_id: projectId }: Level,
) {
  const { rows, ...rest } = await page(
    { secretKey: ctx.secretKey, query, scope: ['skills', orgId, projectId] },
    (after, limit) => {
      let skills = ctx.db
        .selectFrom('skills')
        .selectAll()
        .where('org_id', '=', orgId)
        .where('project_id', 'is not distinct from', projectId);
      if (after !== null) skills = skills.where('name', '>', after);
      return skills.orderBy('name').limit(limit).execute();
    },
    (skill) => skill.name,
  );
  return { status: 200, body: { ok: true, skills: rows.map(skillView), ...rest } };
}
