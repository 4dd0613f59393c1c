/** What the lists of one app's builds and previews share. */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import Type from 'typebox';
import type { Listed } from '../db/listed.ts';
import type { Call } from '../http/operation.ts';
import { IdInput, Several } from '../http/schemas.ts';
import type { BoundList } from './all-apps.ts';
import { loadProject } from './policy.ts';

const NO_THREAD = 'none';

export const appFilters = (statuses: readonly [string, ...string[]]) => ({
  threadId: Type.Optional(IdInput('thr', 'Only those of this thread; `none`: only those without one.')),
  sourceId: Type.Optional(IdInput('src', 'Only those of this source.')),
  status: Type.Optional(Several(statuses, 'Only those with this status.')),
});

interface Query {
  threadId?: string;
  sourceId?: string;
  status?: string;
}

/** The requested list of the app that the path names. Ids that nothing has match nothing. */
export async function listOfApp(
  call: Call<Query>,
  table: Extract<Listed['table'], 'builds' | 'previews'>,
  statuses: readonly string[],
): Promise<BoundList> {
  const { threadId, sourceId, status } = call.query;
  const project = await loadProject(call.ctx.db, call);
  const chosen = status === undefined ? null : [...new Set(status.split(','))].sort();
  return {
    table,
    scope: { column: 'project_id', ids: [project.id] },
    statuses: chosen ?? statuses,
    listed: [project.kind === 'platform'],
    filter: filterOf(call.query),
    binding: ['app', table, project.id, threadId ?? null, sourceId ?? null, chosen],
  };
}

function filterOf({ threadId, sourceId }: Query): RawBuilder<boolean> | undefined {
  const conditions = [
    ...(threadId === undefined
      ? []
      : [threadId === NO_THREAD ? sql`thread_id is null` : sql`thread_id = ${threadId}`]),
    ...(sourceId === undefined ? [] : [sql`source_id = ${sourceId}`]),
  ];
  return conditions.length === 0 ? undefined : sql<boolean>`${sql.join(conditions, sql` and `)}`;
}
