/**
 * What pages read of apps, projects and their threads, and which events change it: one place for keys, so that two
 * pages that show the same thing share it. An `appId` may be that of a Direct project, too.
 */
import type { Apply, DirectEvent, EventPage, Page, PageOptions, Setup, Thread } from '@headrace/client';
import { infiniteQueryOptions } from '@tanstack/react-query';
import type { QueryClient } from '@tanstack/react-query';
import { feedOf } from '../live/index.ts';
import type { LaneName } from '../live/index.ts';
import { client } from './client.ts';
import { itemsOf, many, one, PAGE_ITEMS, READ } from './query.ts';

const THREADS = ['thread.'];
const APPLIES = ['platform.apply.'];
const BUILDS = ['platform.build.'];
const PREVIEWS = ['preview.'];
const APPS = ['platform.app.', 'platform.head.'];
/** No event names what a write changed in a Direct project itself. */
const PROJECTS = [...APPS, 'operation.'];

// Over all apps.

export const appsQuery = (query = '') =>
  many(['apps', { query }], { types: APPS }, (options) =>
    client.apps.list({ ...options, ...(query && { query }) }),
  );

/** Apps and Direct projects, for their names and to choose from. As many as one answer has, then page by page. */
export const projectNamesQuery = () =>
  many(
    ['projects', 'names'],
    { types: ['platform.app.', 'operation.'] },
    (options) => client.projects.list(options),
    200,
  );

/** Those of Direct projects, too. `status`: one, or several with commas. */
export const allThreadsQuery = (
  filter: { status?: string; projectId?: string; query?: string; sort?: 'activity' } = {},
) =>
  many(['threads', filter], { types: THREADS }, (options) =>
    client.threads.listDirect({ ...options, ...filter }),
  );

export const allAppliesQuery = (filter: { status?: string; appId?: string } = {}) =>
  many(['applies', filter], { types: APPLIES }, (options) =>
    client.applies.listAll({ ...options, ...filter }),
  );

export const allBuildsQuery = (filter: { status?: string; appId?: string } = {}) =>
  many(['builds', filter], { types: BUILDS }, (options) => client.builds.listAll({ ...options, ...filter }));

export const allPreviewsQuery = (filter: { status?: string; appId?: string } = {}) =>
  many(['previews', filter], { types: PREVIEWS }, (options) =>
    client.previews.listAll({ ...options, ...filter }),
  );

export const modelsQuery = () => one(['models'], null, (options) => client.models.list(options));

// Of the user and the organization.

export const sessionsQuery = () => many(['sessions'], null, (options) => client.sessions.list(options));

/** Owners and admins only. */
export const organizationSettingsQuery = () =>
  one(['settings'], null, (options) => client.settings.getOrganization(options));

export const runtimesQuery = () =>
  many(['runtimes'], null, (options) => client.settings.runtimes(options), 200);

/** Owners and admins only. A level has at most 100. No event tells of it: it is read again when it is shown. */
export const organizationVariablesQuery = () => ({
  ...one(['environment'], null, (options) => client.environment.listOrganization({ ...options, limit: 200 })),
  staleTime: 0,
});

/** Owners and admins only. A level has at most 50; no event tells of them. */
export const organizationSkillsQuery = () => ({
  ...one(['skills'], null, (options) => client.skills.listOrganization({ ...options, limit: 200 })),
  staleTime: 0,
});

// In one app.

/** Its own only. */
export const skillsQuery = (appId: string) => ({
  ...one(['app', appId, 'skills'], null, (options) => client.skills.list(appId, { ...options, limit: 200 })),
  staleTime: 0,
});

/** Its own, and the organization's that they do not hide. */
export const variablesQuery = (appId: string) => ({
  ...one(['app', appId, 'environment'], null, (options) =>
    client.environment.list(appId, { ...options, effective: true, limit: 200 }),
  ),
  staleTime: 0,
});

export const appQuery = (appId: string) =>
  one(['app', appId], { types: PROJECTS, appId }, (options) => client.projects.get(appId, options));

/** An app as the Platform API shows it: with the customer's own id of it. */
export const externalIdQuery = (appId: string) =>
  one(['app', appId, 'external id'], { types: ['platform.app.'], appId }, (options) =>
    client.apps.get(appId, options),
  );

export const appSettingsQuery = (appId: string) =>
  one(['app', appId, 'settings'], { types: ['platform.app.'], appId }, (options) =>
    client.settings.get(appId, options),
  );

/** Newest first. Its records have no id of their own: they are told apart by `revision`. */
export const headHistoryQuery = (appId: string) =>
  many(
    ['app', appId, 'heads'],
    { types: ['platform.head.'], appId },
    (options) => client.head.history(appId, { ...options, order: 'desc' }),
    200,
  );

export const sourcesQuery = (appId: string) =>
  many(['app', appId, 'sources'], { types: ['platform.source.'], appId }, (options) =>
    client.sources.list(appId, options),
  );

/** A source never changes. */
export const sourceQuery = (appId: string, sourceId: string) => ({
  ...one(['app', appId, 'source', sourceId], null, (options) => client.sources.get(appId, sourceId, options)),
  staleTime: Number.POSITIVE_INFINITY,
});

export const filesQuery = (appId: string, sourceId: string) => ({
  ...many(
    ['app', appId, 'source', sourceId, 'files'],
    null,
    (options) => client.sources.files(appId, sourceId, options),
    200,
  ),
  staleTime: Number.POSITIVE_INFINITY,
});

export const fileQuery = (appId: string, sourceId: string, path: string) => ({
  ...one(['app', appId, 'source', sourceId, 'file', path], null, (options) =>
    client.sources.file(appId, sourceId, { ...options, path }),
  ),
  staleTime: Number.POSITIVE_INFINITY,
});

/** Of the lines around a match, so many on each side are shown. */
const AROUND = 2;

/** Lines of a source's files, page by page; a page may be short, or without any. */
export const searchQuery = (
  appId: string,
  sourceId: string,
  wanted: { q: string; regex: boolean; ignoreCase: boolean; include: string; exclude: string },
) =>
  infiniteQueryOptions({
    queryKey: ['app', appId, 'source', sourceId, 'search', wanted],
    queryFn: async ({ pageParam, signal }) => {
      const { q, regex, ignoreCase, include, exclude } = wanted;
      return await client.sources.search(appId, sourceId, {
        ...READ,
        signal,
        q,
        regex,
        caseSensitive: !ignoreCase,
        ...(include && { include }),
        ...(exclude && { exclude }),
        context: AROUND,
        limit: 100,
        ...(pageParam !== null && { cursor: pageParam }),
      });
    },
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.nextCursor,
    staleTime: Number.POSITIVE_INFINITY,
  });

/** The files of a difference without their patches. */
export const diffQuery = (appId: string, baseId: string, sourceId: string) => ({
  ...one(['app', appId, 'diff', baseId, sourceId], null, (options) =>
    client.sources.diff(appId, sourceId, { ...options, base: baseId, patches: false }),
  ),
  staleTime: Number.POSITIVE_INFINITY,
});

/** With the patches of these files only, at most 50. */
export const patchesQuery = (appId: string, baseId: string, sourceId: string, path: string[]) => ({
  ...one(['app', appId, 'diff', baseId, sourceId, 'patches', path], null, (options) =>
    client.sources.diff(appId, sourceId, { ...options, base: baseId, path }),
  ),
  staleTime: Number.POSITIVE_INFINITY,
});

export const threadsQuery = (appId: string, filter: { query?: string; status?: Thread['status'] } = {}) =>
  many(['app', appId, 'threads', filter], { types: THREADS, appId }, (options) =>
    client.threads.listDirect({ ...options, ...filter, projectId: appId }),
  );

export const applyQuery = (appId: string, applyId: string) =>
  one(['app', appId, 'apply', applyId], { types: [...APPLIES, 'run.'], appId }, (options) =>
    client.applies.get(appId, applyId, options),
  );

export const appliesQuery = (appId: string, filter: { threadId?: string; status?: Apply['status'] } = {}) =>
  many(['app', appId, 'applies', filter], { types: APPLIES, appId }, (options, cache) =>
    filter.status === undefined
      ? client.applies.list(appId, { ...options, ...filter })
      : appliesOf(appId, filter.status, { ...options, cache }),
  );

/** The service narrows the applies of apps; those of a project are narrowed here, so a page may be short. */
async function appliesOf(
  appId: string,
  status: Apply['status'],
  { cache, ...options }: PageOptions & { cache: QueryClient },
): Promise<Page<Apply>> {
  const { kind } = await cache.ensureQueryData(appQuery(appId));
  if (kind === 'platform') return await client.applies.listAll({ ...options, appId, status });
  const page = await client.applies.list(appId, { ...options, limit: 200 });
  return { ...page, items: page.items.filter((apply) => apply.status === status) };
}

/** What an apply would do with the present head: another one is previewed as soon as it moves. */
export const applyPreviewQuery = (appId: string, threadId: string, sourceId: string) =>
  one(['app', appId, 'preview of', threadId, sourceId], { types: ['platform.head.'], appId }, (options) =>
    client.applies.preview(appId, threadId, { expectedSourceId: sourceId }, options),
  );

/** One conflict of a preview: both sources are named, so it never changes. */
export const conflictFileQuery = (
  appId: string,
  threadId: string,
  of: { sourceId: string; headSourceId: string; path: string },
) => ({
  ...one(['app', appId, 'conflict', threadId, of], null, (options) =>
    client.applies.previewFile(
      appId,
      threadId,
      { expectedSourceId: of.sourceId, expectedHeadSourceId: of.headSourceId, path: of.path },
      options,
    ),
  ),
  staleTime: Number.POSITIVE_INFINITY,
});

export const buildQuery = (appId: string, buildId: string) =>
  one(['app', appId, 'build', buildId], { types: BUILDS, appId, ids: [buildId] }, (options) =>
    client.builds.get(appId, buildId, options),
  );

/** Ready builds only. */
export const manifestQuery = (appId: string, buildId: string) => ({
  ...one(['app', appId, 'build', buildId, 'manifest'], null, (options) =>
    client.builds.manifest(appId, buildId, options),
  ),
  staleTime: Number.POSITIVE_INFINITY,
});

export const previewQuery = (appId: string, previewId: string) =>
  one(['app', appId, 'preview', previewId], { types: PREVIEWS, appId, ids: [previewId] }, (options) =>
    client.previews.get(appId, previewId, options),
  );

/** No event tells of setups: while one is under way, what is shown of it is read again after this time. */
export const SETUP_EVERY_MS = 3_000;

export const isUnderWay = ({ status }: Setup): boolean => status === 'queued' || status === 'running';

export const setupsQuery = (appId: string) => ({
  ...many(['app', appId, 'setups'], null, (options) => client.setups.list(appId, options)),
  staleTime: 0,
  refetchInterval: ({ state: { data } }: { state: { data: { pages: Page<Setup>[] } | undefined } }) =>
    itemsOf(data).some(isUnderWay) && SETUP_EVERY_MS,
});

export const setupQuery = (appId: string, setupId: string) => ({
  ...one(['app', appId, 'setup', setupId], null, (options) => client.setups.get(appId, setupId, options)),
  staleTime: 0,
  refetchInterval: ({ state: { data } }: { state: { data: Setup | undefined } }) =>
    data !== undefined && isUnderWay(data) && SETUP_EVERY_MS,
});

// In one thread.

const inThread = (appId: string, threadId: string, what: string) => ['app', appId, 'thread', threadId, what];

export const threadQuery = (appId: string, threadId: string) => ({
  // An edit and a command move its latest source, and make a checkpoint; it shows its pull requests.
  ...one(
    ['app', appId, 'thread', threadId],
    { types: [...THREADS, 'checkpoint.', 'workspace.', 'pull_request.'], appId, threadId },
    (options) => client.threads.get(appId, threadId, options),
  ),
  // While its workspace is made, no event tells how far that is.
  refetchInterval: ({ state: { data } }: { state: { data: Thread | undefined } }) =>
    data?.workspaceStatus === 'preparing' && SETUP_EVERY_MS,
});

/** Newest first: a conversation opens at its end. Before a fork's own messages are those that it inherited. */
export const messagesQuery = (appId: string, threadId: string) =>
  many(inThread(appId, threadId, 'messages'), { types: ['message.'], appId, threadId }, (options) =>
    client.messages.list(appId, threadId, { ...options, order: 'desc', inherited: true }),
  );

export const runsQuery = (appId: string, threadId: string) =>
  many(inThread(appId, threadId, 'runs'), { types: ['run.'], appId, threadId }, (options) =>
    client.runs.list(appId, threadId, options),
  );

export const runQuery = (appId: string, threadId: string, runId: string) =>
  one([...inThread(appId, threadId, 'run'), runId], { types: ['run.'], appId, threadId, runId }, (options) =>
    client.runs.get(appId, threadId, runId, options),
  );

export const toolsQuery = (appId: string, threadId: string, runId: string) =>
  many(
    [...inThread(appId, threadId, 'tools'), runId],
    { types: ['tool.'], appId, threadId, runId },
    (options) => client.runs.tools(appId, threadId, runId, options),
    200,
  );

export const approvalsQuery = (appId: string, threadId: string) =>
  many(inThread(appId, threadId, 'approvals'), { types: ['approval.'], appId, threadId }, (options) =>
    client.approvals.list(appId, threadId, options),
  );

export const checkpointsQuery = (appId: string, threadId: string) =>
  many(inThread(appId, threadId, 'checkpoints'), { types: ['checkpoint.'], appId, threadId }, (options) =>
    client.checkpoints.list(appId, threadId, options),
  );

export const buildsQuery = (appId: string, threadId: string) =>
  many(inThread(appId, threadId, 'builds'), { types: BUILDS, appId, threadId }, (options) =>
    client.builds.list(appId, threadId, options),
  );

export const previewsQuery = (appId: string, threadId: string) =>
  many(inThread(appId, threadId, 'previews'), { types: PREVIEWS, appId, threadId }, (options) =>
    client.previews.list(appId, threadId, options),
  );

/** Newest first. It is not read again for each new event: the live store brings those. */
export const threadEventsQuery = ({
  appId,
  threadId,
  lane,
}: {
  appId: string;
  threadId: string;
  /** Null until it is known. */
  lane: LaneName | null;
}) =>
  infiniteQueryOptions({
    queryKey: inThread(appId, threadId, 'events'),
    queryFn: async ({ pageParam, signal }) =>
      await client.events.list(feedOf({ appId, threadId, lane: lane! }), {
        ...READ,
        signal,
        order: 'desc',
        limit: PAGE_ITEMS,
        ...(pageParam !== null && { cursor: pageParam }),
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (last: EventPage<DirectEvent>) => (last.hasMore ? last.nextCursor : null),
    enabled: lane !== null,
    refetchOnMount: 'always',
  });
