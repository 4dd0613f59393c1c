import { sql } from 'kysely';
import Type from 'typebox';
import type { Db } from '../db/database.ts';
import type { ThreadRow } from '../db/schema.ts';
import { page } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import { Enum, ListQuery, Page } from '../http/schemas.ts';
import { loadProject } from '../projects/index.ts';
import { readThreads } from './read-threads.ts';
import type { ThreadDetails } from './read-threads.ts';
import { Thread, THREAD_STATUSES } from './schemas.ts';

import { threadView } from './view.ts';

interface Filter {
  orgId: string;
  projectId?: string | undefined;
  projectIds?: ReadonlySet<string> | null;
  status?: ThreadRow['status'] | undefined;
  archived?: boolean | undefined;
}

/** Live threads of live projects, newest first. */
function find(db: Db, filter: Filter, after: string | null, limit: number): Promise<ThreadDetails[]> {
  let query = db
    .selectFrom('threads')
    .select('threads.id')
    .innerJoin('projects', 'projects.id', 'threads.project_id')
    .where('threads.org_id', '=', filter.orgId)
    .where('threads.deleted_at', 'is', null)
    .where('projects.deleted_at', 'is', null);
  if (filter.projectId !== undefined) query = query.where('threads.project_id', '=', filter.projectId);
  if (filter.projectIds) query = query.where('threads.project_id', 'in', [...filter.projectIds, '']);
  if (filter.status !== undefined) query = query.where('threads.status', '=', filter.status);
  if (filter.archived !== undefined)
    query = query.where('threads.archived_at', filter.archived ? 'is not' : 'is', null);
  if (after !== null) query = query.where('threads.id', '<', after);
  return readThreads(db, sql`${query.orderBy('threads.id', 'desc').limit(limit)}`);
}

async function answer(
  ctx: { db: Db; secretKey: Buffer },
  query: { limit?: number; cursor?: string },
  filter: Filter,
  scope: unknown[],
) {
  const { rows, ...rest } = await page(
    { secretKey: ctx.secretKey, query, scope },
    (after, limit) => find(ctx.db, filter, after, limit),
    ({ thread }) => thread.id,
  );
  return {
    status: 200,
    body: { ok: true, threads: rows.map(threadView), ...rest },
  };
}

export const listThreads = read({
  name: 'threads.listThreads',
  summary: "List an app's threads, newest first",
  access: { permissions: ['thread:read'] },
  query: ListQuery({ status: Type.Optional(Enum(THREAD_STATUSES)) }),
  responses: { 200: Page('threads', Thread) },
  async handle(call) {
    const project = await loadProject(call.ctx.db, call);
    return answer(
      call.ctx,
      call.query,
      { orgId: project.org_id, projectId: project.id, status: call.query.status },
      ['threads', project.id, call.query.status ?? null],
    );
  },
});

export const listAllThreads = read({
  name: 'threads.listAllThreads',
  summary: "List the organization's threads, newest first",
  access: { permissions: ['thread:read'] },
  query: ListQuery({
    projectId: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    status: Type.Optional(Enum(THREAD_STATUSES)),
    archived: Type.Optional(Type.Boolean()),
  }),
  responses: { 200: Page('threads', Thread) },
  async handle(call) {
    const { query, principal } = call;
    if (query.projectId !== undefined) await loadProject(call.ctx.db, call, 'none', query.projectId);
    const filter = {
      orgId: principal.orgId,
      projectIds: principal.projectIds,
      projectId: query.projectId,
      status: query.status,
      archived: query.archived,
    };
    return answer(call.ctx, query, filter, [
      'all threads',
      principal.orgId,
      query.projectId ?? null,
      query.status ?? null,
      query.archived ?? null,
    ]);
  },
});
