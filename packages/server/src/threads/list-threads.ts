import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import Type from 'typebox';
import type { Db } from '../db/database.ts';
import type { ListScope } from '../db/listed.ts';
import type { PullRequestRow, ThreadRow } from '../db/schema.ts';
import { containsText, endOfSearch, idBytes } from '../db/search.ts';
import { page } from '../http/cursors.ts';
import type { Searched } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import { Enum, IdInput, ListQuery, Page, SearchText, Several, Text } from '../http/schemas.ts';
import { loadProject } from '../projects/index.ts';
import { answerListed, Sort, titleMatches } from './listed-threads.ts';
import { readThreads } from './read-threads.ts';
import type { ThreadDetails } from './read-threads.ts';
import { Thread, THREAD_STATUSES } from './schemas.ts';
import { threadView } from './view.ts';

const ID = idBytes('threads.id');

interface Filter {
  orgId: string;
  projectId?: string | undefined;
  projectIds?: ReadonlySet<string> | null;
  repositoryId?: string | undefined;
  taskId?: string | undefined;
  automationId?: string | undefined;
  createdByAutomation?: boolean | undefined;
  createdByUserId?: string | undefined;
  /** One, or several with commas. */
  status?: string | undefined;
  archived?: boolean | undefined;
  pullRequestState?: PullRequestRow['state'] | undefined;
  /** Text in the title. */
  query?: string | undefined;
}

/** Live threads of live projects, newest first; a search reads part of the list. */
async function find(
  db: Db,
  filter: Filter,
  after: string | null,
  limit: number,
): Promise<Searched<ThreadDetails>> {
  let query = db
    .selectFrom('threads')
    .select('threads.id')
    .innerJoin('projects', 'projects.id', 'threads.project_id')
    .where('threads.org_id', '=', filter.orgId)
    .where('threads.deleted_at', 'is', null)
    .where('projects.deleted_at', 'is', null)
    .where(sql<boolean>`threads.status = any(${statusesOf(filter)}::text[])`);
  if (filter.projectId !== undefined) query = query.where('threads.project_id', '=', filter.projectId);
  if (filter.projectIds) query = query.where('threads.project_id', 'in', [...filter.projectIds, '']);
  for (const condition of conditionsOf(filter)) query = query.where(condition);
  if (after !== null) query = query.where(ID, '<', after);
  let readTo: string | null = null;
  if (filter.query !== undefined) {
    query = query.where(containsText('threads.title', filter.query));
    readTo = await endOfSearch(db, 'threads', ofFilter(filter), after);
    if (readTo !== null) query = query.where(ID, '>=', readTo);
  }
  return { rows: await readThreads(db, sql`${query.orderBy(ID, 'desc').limit(limit)}`), readTo };
}

/** A thread has the status `archived` exactly when it is. */
const statusesOf = ({ status, archived }: Pick<Filter, 'status' | 'archived'>): ThreadRow['status'][] =>
  THREAD_STATUSES.filter(
    (one) =>
      (status === undefined || status.split(',').includes(one)) &&
      (archived === undefined || archived === (one === 'archived')),
  );

/** What lists by status, and those by activity, have no indexes for. */
const conditionsOf = ({
  orgId,
  repositoryId,
  taskId,
  automationId,
  createdByAutomation,
  createdByUserId,
  pullRequestState,
}: Filter): RawBuilder<boolean>[] => [
  ...(repositoryId === undefined
    ? []
    : [
        sql<boolean>`threads.project_id in (select id from projects where org_id = ${orgId} and repository_id = ${repositoryId})`,
      ]),
  ...(taskId === undefined ? [] : [sql<boolean>`threads.task_id = ${taskId}`]),
  ...(automationId === undefined ? [] : [sql<boolean>`threads.automation_id = ${automationId}`]),
  ...(createdByAutomation === undefined
    ? []
    : [sql<boolean>`(threads.automation_id is not null) = ${createdByAutomation}`]),
  ...(createdByUserId === undefined ? [] : [sql<boolean>`threads.created_by = ${createdByUserId}`]),
  ...(pullRequestState === undefined ? [] : [hasPrimary(pullRequestState)]),
];

/** What the search of a list with this filter reads. */
const ofFilter = ({ orgId, projectId }: Filter) =>
  projectId === undefined
    ? { column: 'org_id' as const, id: orgId }
    : { column: 'project_id' as const, id: projectId };

/** The primary one (`primaryOf`) is the open one, else the newest. */
const hasPrimary = (state: PullRequestRow['state']) => sql<boolean>`exists (
  select 1 from pull_requests p where p.thread_id = threads.id and p.state = ${state}
    and (${state} = 'open' or not exists (
      select 1 from pull_requests other where other.thread_id = threads.id and (other.state = 'open' or other.id > p.id))))`;

export const listThreads = read({
  name: 'threads.listThreads',
  summary: "List an app's threads, newest first",
  access: { permissions: ['thread:read'] },
  query: ListQuery({
    status: Type.Optional(Enum(THREAD_STATUSES)),
    query: Type.Optional(SearchText('title')),
  }),
  responses: { 200: Page('threads', Thread) },
  async handle(call) {
    const { status, query } = call.query;
    const project = await loadProject(call.ctx.db, call);
    return answerListed(call, {
      table: 'threads',
      scope: { column: 'project_id', ids: [project.id] },
      statuses: status === undefined ? THREAD_STATUSES : [status],
      matches: titleMatches(query),
      binding: ['threads', project.id, status ?? null, ...(query === undefined ? [] : [query])],
    });
  },
});

const FILTERS = {
  projectId: Type.Optional(IdInput('prj')),
  repositoryId: Type.Optional(IdInput('repo', "The repository of the thread's project.")),
  taskId: Type.Optional(IdInput('task')),
  automationId: Type.Optional(Text('aut_01k9x3v5e8f7arh2m4t6w8y0zb', { minLength: 1, maxLength: 128 })),
  createdByAutomation: Type.Optional(Type.Boolean()),
  createdByUserId: Type.Optional(IdInput('usr', 'A user or a service account.')),
  status: Type.Optional(Several(THREAD_STATUSES, 'Only those with this status.')),
  archived: Type.Optional(Type.Boolean({ description: 'Omitted: both.' })),
  pullRequestState: Type.Optional(
    Enum(['open', 'closed', 'merged'], { description: 'The state of `primaryPullRequest`.' }),
  ),
  query: Type.Optional(SearchText('title')),
  sort: Sort,
};
const NAMES = (Object.keys(FILTERS) as (keyof typeof FILTERS)[]).filter((name) => name !== 'sort');

export const listAllThreads = read({
  name: 'threads.listAllThreads',
  summary: "List the organization's threads, newest first",
  description:
    'Threads match all given filters. An unknown project is 404; other unknown ids match nothing. By activity, a page of a filter other than `projectId`, `status` and `archived` may have fewer threads than its limit, even none, while `hasMore` is true.',
  access: { permissions: ['thread:read'] },
  query: ListQuery(FILTERS),
  responses: { 200: Page('threads', Thread) },
  async handle(call) {
    const { query, principal, ctx } = call;
    const project =
      query.projectId === undefined ? null : await loadProject(ctx.db, call, 'none', query.projectId);
    const { orgId, projectIds } = principal;
    const filter: Filter = { ...query, orgId, projectIds };
    const statuses = statusesOf(query);
    // In whatever order they are named.
    const status = query.status && statusesOf({ status: query.status }).join(',');
    const chosen = { ...query, status };
    const binding = [
      'all threads',
      orgId,
      // Without a sort as ever: running cursors go on.
      ...NAMES.map((name) => chosen[name] ?? null),
      ...(query.sort ? [query.sort] : []),
    ];
    const conditions = conditionsOf(filter);
    const byActivity = query.sort === 'activity';
    const title = titleMatches(query.query);
    const sought = title ? [...conditions, title] : conditions;
    // A few threads of one task or creator are found by that, and then looked through.
    if (byActivity || (conditions.length === 0 && statuses.length < THREAD_STATUSES.length))
      return answerListed(call, {
        table: 'threads',
        scope: project ? { column: 'project_id', ids: [project.id] } : await scopeOf(ctx.db, filter),
        statuses,
        listed: project ? [project.kind === 'platform'] : [true, false],
        byActivity,
        // No index has them in this order: a page looks through a part of the list.
        matches: sought.length ? sql<boolean>`${sql.join(sought, sql` and `)}` : undefined,
        binding,
      });
    const { rows, ...rest } = await page(
      { secretKey: ctx.secretKey, query, scope: binding },
      (after, limit) => find(ctx.db, filter, after, limit),
      ({ thread }) => thread.id,
    );
    return { status: 200, body: { ok: true, threads: rows.map(threadView), ...rest } };
  },
});

/** The organization, or the projects to which the key is restricted: these were not checked. */
async function scopeOf(db: Db, { orgId, projectIds }: Filter): Promise<ListScope> {
  if (!projectIds) return { column: 'org_id', ids: [orgId] };
  const projects = await db
    .selectFrom('projects')
    .select('id')
    .where('org_id', '=', orgId)
    .where('id', 'in', [...projectIds, ''])
    .execute();
  return { column: 'project_id', ids: projects.map(({ id }) => id) };
}
