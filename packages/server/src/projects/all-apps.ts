/** What the lists over all apps share: their filters, scope and pages. */
import type { RawBuilder } from 'kysely';
import Type from 'typebox';
import { endOfListedSearch, selectListed } from '../db/listed.ts';
import type { Listed, ListScope } from '../db/listed.ts';
import { page } from '../http/cursors.ts';
import { ApiError } from '../http/errors.ts';
import type { Call } from '../http/operation.ts';
import { seesProject } from '../http/principal.ts';
import { IdInput, Several } from '../http/schemas.ts';
import { loadProject } from './policy.ts';

export const allAppsFilters = (statuses: readonly [string, ...string[]]) => ({
  appId: Type.Optional(IdInput('prj', 'Only those of this app.')),
  status: Type.Optional(Several(statuses, 'Only those with this status.')),
});

interface Query {
  appId?: string;
  status?: string;
  limit?: number;
  cursor?: string;
}

/** A list, and what its cursors are bound to. */
export type BoundList = Listed & { binding: unknown[] };

/** The requested list over all apps. Throws 403 or 404 for an app that the caller may not see. */
export async function listOfAllApps(
  call: Call<Query>,
  table: Listed['table'],
  statuses: readonly string[],
): Promise<BoundList> {
  const { appId, status } = call.query;
  const chosen = status === undefined ? null : [...new Set(status.split(','))].sort();
  return {
    table,
    scope: await scopeOf(call),
    statuses: chosen ?? statuses,
    binding: ['all apps', table, call.principal.orgId, appId ?? null, chosen],
  };
}

/** The caller's organization, or the apps to which its key or its query is restricted. */
async function scopeOf(call: Call<Query>): Promise<ListScope> {
  const {
    ctx: { db },
    principal: { orgId, projectIds },
    query: { appId },
  } = call;
  if (appId !== undefined) {
    if (!seesProject(call.principal, appId))
      throw new ApiError('forbidden', 'This key is restricted to other apps.');
    return { column: 'project_id', ids: [(await loadProject(db, call, 'none', appId)).id] };
  }
  if (projectIds === null) return { column: 'org_id', ids: [orgId] };
  // A key's `projectIds` were not checked: they may be another organization's.
  const apps = await db
    .selectFrom('projects')
    .select('id')
    .where('org_id', '=', orgId)
    .where('id', 'in', [...projectIds])
    .execute();
  return { column: 'project_id', ids: apps.map(({ id }) => id) };
}

/** One page of a list; `read` reads the rows with the ids that `ids` selects, in the list's order. */
export async function pageOf<T>(
  { ctx: { db, secretKey }, query }: Call<Query>,
  list: BoundList,
  read: (ids: RawBuilder<{ id: string }>) => Promise<T[]>,
  keyOf: (row: T) => string,
): Promise<{ rows: T[]; nextCursor: string | null; hasMore: boolean }> {
  return page(
    { secretKey, query, scope: list.binding },
    async (after, limit) => {
      const readTo = list.matches ? await endOfListedSearch(db, list, after) : null;
      return { rows: await read(selectListed(list, { after, to: readTo }, limit)), readTo };
    },
    keyOf,
  );
}
