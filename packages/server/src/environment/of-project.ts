/** The variables that sandboxes of a project have. */
import type { TaskRequest, TurnRequest } from '@headrace/runner/protocol';
import type { Context } from '../context.ts';
import type { VariableTarget } from '../db/schema.ts';
import { tryOpenValue } from './values.ts';

interface Of {
  org_id: string;
  project_id: string;
}

/** The project's own, and the organization's that it does not hide; by name. */
const effective = (db: Context['db'], { org_id: orgId, project_id: projectId }: Of) =>
  db
    .selectFrom('variables')
    .distinctOn('name')
    .where('org_id', '=', orgId)
    .where(({ eb, or }) => or([eb('project_id', '=', projectId), eb('project_id', 'is', null)]))
    .orderBy('name')
    .orderBy('project_id', (order) => order.asc().nullsLast());

/** Those for one kind of sandbox, now; nothing where there are none. */
export async function variablesOf(
  ctx: Pick<Context, 'db' | 'secretKey' | 'log'>,
  of: Of,
  target: VariableTarget,
): Promise<Pick<TaskRequest, 'variables' | 'secrets'>> {
  const rows = await effective(ctx.db, of).selectAll().execute();
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
  };
}

/** What an agent is told of all of them, whatever they are for; nothing where there are none. */
export async function variableTargetsOf(
  db: Context['db'],
  of: Of,
): Promise<Pick<TurnRequest, 'variableTargets'>> {
  const rows = await effective(db, of).select(['name', 'targets']).execute();
  return rows.length > 0
    ? { variableTargets: Object.fromEntries(rows.map(({ name, targets }) => [name, targets])) }
    : {};
}
