import { page } from '../http/cursors.ts';
import type { Call } from '../http/operation.ts';
import type { Level } from './policy.ts';
import { variableView } from './view.ts';

/**
 * One page of a level's variables, by the bytes of their names; `isEffective` adds the organization's that
 * the app does not hide.
 */
export async function pageOfLevel(
  { ctx, query }: Call<{ limit?: number; cursor?: string }>,
  { org_id: orgId, project_id: projectId }: Level,
  isEffective = false,
) {
  const { rows, ...rest } = await page(
    { secretKey: ctx.secretKey, query, scope: ['variables', orgId, projectId, isEffective] },
    (after, limit) => {
      let variables = ctx.db
        .selectFrom('variables')
        .selectAll()
        .distinctOn('name')
        .where('org_id', '=', orgId)
        .where(({ eb, or }) =>
          or([
            eb('project_id', 'is not distinct from', projectId),
            ...(isEffective ? [eb('project_id', 'is', null)] : []),
          ]),
        );
      if (after !== null) variables = variables.where('name', '>', after);
      return variables
        .orderBy('name')
        .orderBy('project_id', (order) => order.asc().nullsLast())
        .limit(limit)
        .execute();
    },
    (variable) => variable.name,
  );
  return {
    status: 200,
    body: { ok: true, variables: rows.map((row) => variableView(ctx, row)), ...rest },
  };
}
