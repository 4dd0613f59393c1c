import { sql } from 'kysely';
import Type from 'typebox';
import type { Db } from '../db/database.ts';
import type { PullRequestRow, ThreadRow } from '../db/schema.ts';
import { containsText, endOfSearch, idBytes } from '../db/search.ts';
import { page } from '../http/cursors.ts';
import type { Searched } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import { Enum, IdInput, ListQuery, Page, SearchText, Text } from '../http/schemas.ts';
import { loadProject } from '../projects/index.ts';
import { answerListed, titleMatches } from './listed-threads.ts';
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
  status?: ThreadRow['status'] | undefined;
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
    .where('projects.deleted_at', 'is', null);
  if (filter.projectId !== undefined) query = query.where('threads.project_id', '=', filter.projectId);
  if (filter.projectIds) query = query.where('threads.project_id', 'in', [...filter.projectIds, '']);
  if (filter.repositoryId !== undefined)
    query = query.where('projects.repository_id', '=', filter.repositoryId);
  if (filter.taskId !== undefined) query = query.where('threads.task_id', '=', filter.taskId);
  if (filter.automationId !== undefined)
    query = query.where('threads.automation_id', '=', filter.automationId);
  if (filter.createdByAutomation !== undefined)
    query = query.where('threads.automation_id', filter.createdByAutomation ? 'is not' : 'is', null);
  if (filter.createdByUserId !== undefined)
    query = query.where('threads.created_by', '=', filter.createdByUserId);
  if (filter.status !== undefined) query = query.where('threads.status', '=', filter.status);
  if (filter.archived !== undefined)
    query = query.where('threads.archived_at', filter.archived ? 'is not' : 'is', null);
  if (filter.pullRequestState !== undefined) query = query.where(hasPrimary(filter.pullRequestState));
  if (after !== null) query = query.where(ID, '<', after);
  let readTo: string | null = null;
  if (filter.query !== undefined) {
    query = query.where(containsText('threads.title', filter.query));
    readTo = await endOfSearch(db, 'threads', ofFilter(filter), after);
    if (readTo !== null) query = query.where(ID, '>=', readTo);
  }
  return { rows: await readThreads(db, sql`${query.orderBy(ID, 'desc').limit(limit)}`), readTo };
}

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
  status: Type.Optional(Enum(THREAD_STATUSES)),
  archived: Type.Optional(Type.Boolean({ description: 'Omitted: both.' })),
  pullRequestState: Type.Optional(
    Enum(['open', 'closed', 'merged'], { description: 'The state of `primaryPullRequest`.' }),
  ),
  query: Type.Optional(SearchText('title')),
};

export const listAllThreads = read({
  name: 'threads.listAllThreads',
  summary: "List the organization's threads, newest first",
  description: 'Threads match all given filters. An unknown project is 404; other unknown ids match nothing.',
  access: { permissions: ['thread:read'] },
  query: ListQuery(FILTERS),
  responses: { 200: Page('threads', Thread) },
  async handle(call) {
    const { query, principal } = call;
    if (query.projectId !== undefined) await loadProject(call.ctx.db, call, 'none', query.projectId);
    const { orgId, projectIds } = principal;
    const chosen = (Object.keys(FILTERS) as (keyof typeof FILTERS)[]).map((name) => query[name] ?? null);
    const { rows, ...rest } = await page(
      { secretKey: call.ctx.secretKey, query, scope: ['all threads', orgId, ...chosen] },
      (after, limit) => find(call.ctx.db, { ...query, orgId, projectIds }, after, limit),
      ({ thread }) => thread.id,
    );
    return { status: 200, body: { ok: true, threads: rows.map(threadView), ...rest } };
  },
});
