/** The variables that sandboxes of a project have. */
import type { TurnRequest } from '@headrace/runner/protocol';
import type { Context } from '../context.ts';
import type { VariableTarget } from '../db/schema.ts';
import { tryOpenValue } from './values.ts';

/**
 * Those for one kind of sandbox, now: the project's own, and the organization's that it does not hide. For
 * `run`, also what an agent is told of all of them, whatever they are for. Nothing where there are none.
 */
export async function variablesOf(
  ctx: Pick<Context, 'db' | 'secretKey' | 'log'>,
  { org_id: orgId, project_id: projectId }: { org_id: string; project_id: string },
  target: VariableTarget,
): Promise<Pick<TurnRequest, 'variables' | 'secrets' | 'variableTargets'>> {
  const rows = await ctx.db
    .selectFrom('variables')
    .selectAll()
    .distinctOn('name')
    .where('org_id', '=', orgId)
    .where(({ eb, or }) => or([eb('project_id', '=', projectId), eb('project_id', 'is', null)]))
    .orderBy('name')
    .orderBy('project_id', (order) => order.asc().nullsLast())
    .execute();
  const opened = rows
    .filter((row) => row.targets.includes(target))
    .flatMap((row) => {
      const value = tryOpenValue(ctx, row);
      // The sandbox goes without it.
      return value === null ? [] : [{ name: row.name, value, isSecret: row.is_secret }];
    });
  const secrets = opened.flatMap(({ value, isSecret }) => (isSecret ? [value] : []));
  return {
    ...(opened.length > 0 && {
      variables: Object.fromEntries(opened.map(({ name, value }) => [name, value])),
    }),
    ...(secrets.length > 0 && { secrets }),
    ...(target === 'run' &&
      rows.length > 0 && {
        variableTargets: Object.fromEntries(rows.map(({ name, targets }) => [name, targets])),
      }),
  };
}
