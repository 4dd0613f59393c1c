/** Every page: its address, its search parameters and where its code is. Pages are loaded when they are opened. */
import { createRootRoute, createRoute, redirect } from '@tanstack/react-router';
import { sessionQuery } from '../api/session.ts';
import { queries } from './queries.ts';
import { Shell } from './shell.tsx';
import { NoSuchPage, PageFailure, Root } from './root.tsx';
import { page } from './load-page.ts';
import { beginLive, whenReady } from './session.tsx';
import { INBOX } from '../pages/inbox/reads.ts';
import { flag, lines, search, text, whole, word } from './search.ts';

const rootRoute = createRootRoute({
  component: Root,
  notFoundComponent: NoSuchPage,
  errorComponent: PageFailure,
});

const signIn = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: search({ to: text }),
  component: page(() => import('../pages/account/sign-in-page.tsx'), 'SignInPage'),
});
const invitation = createRoute({
  getParentRoute: () => rootRoute,
  path: '/invitations/$token',
  component: page(() => import('../pages/account/invitation-page.tsx'), 'InvitationPage'),
});

/** Begins what a page reads as soon as it is opened, not only when it has been rendered. */
const reading =
  (read: () => void) =>
  ({ cause }: { cause: 'preload' | 'enter' | 'stay' }) => {
    if (cause === 'enter') whenReady(read);
  };

/** What only a signed-in user sees; others are sent to the sign-in page and back. */
const signedIn = createRoute({
  getParentRoute: () => rootRoute,
  id: 'signed-in',
  component: Shell,
  beforeLoad: async ({ location, preload }) => {
    const session = await queries.ensureQueryData({ ...sessionQuery, retry: false });
    if (!session) throw redirect({ to: '/sign-in', search: { to: location.href }, replace: true });
    // A link that is only pointed at may be on a page that shows nothing of it.
    if (!preload) beginLive(session);
  },
});

const inbox = createRoute({
  getParentRoute: () => signedIn,
  path: '/',
  component: page(() => import('../pages/inbox/inbox-page.tsx'), 'InboxPage'),
  // A link that is pointed at loads only the code: a click soon after still reads.
  preloadStaleTime: 0,
  loader: reading(() => {
    const { asking, threads, applies, latest, builds, names } = INBOX;
    for (const query of [asking, threads, latest]) void queries.prefetchInfiniteQuery(query);
    void queries.prefetchInfiniteQuery(names);
    if (!queries.getQueryData(sessionQuery.queryKey)?.entitlements.platformApi) return;
    void queries.prefetchInfiniteQuery(applies);
    void queries.prefetchInfiniteQuery(builds);
  }),
});
const apps = createRoute({
  getParentRoute: () => signedIn,
  path: '/apps',
  validateSearch: search({ query: text }),
  component: page(() => import('../pages/apps/apps-page.tsx'), 'AppsPage'),
});
const account = createRoute({
  getParentRoute: () => signedIn,
  path: '/account',
  component: page(() => import('../pages/account/account-page.tsx'), 'AccountPage'),
});

const projects = createRoute({
  getParentRoute: () => signedIn,
  path: '/projects',
  validateSearch: search({ query: text, repositoryId: text }),
  component: page(() => import('../pages/projects/projects-page.tsx'), 'ProjectsPage'),
});
const pullRequests = createRoute({
  getParentRoute: () => signedIn,
  path: '/pull-requests',
  validateSearch: search({ state: word('open', 'closed', 'merged'), projectId: text }),
  component: page(() => import('../pages/pull-requests/pull-requests-page.tsx'), 'PullRequestsPage'),
});
const tasks = createRoute({
  getParentRoute: () => signedIn,
  path: '/tasks',
  validateSearch: search({ projectId: text }),
  component: page(() => import('../pages/tasks/tasks-page.tsx'), 'TasksPage'),
});
const task = createRoute({
  getParentRoute: () => signedIn,
  path: '/tasks/$taskId',
  component: page(() => import('../pages/tasks/task-page.tsx'), 'TaskPage'),
});
const automations = createRoute({
  getParentRoute: () => signedIn,
  path: '/automations',
  validateSearch: search({ projectId: text }),
  component: page(() => import('../pages/automations/automations-page.tsx'), 'AutomationsPage'),
});
const automation = createRoute({
  getParentRoute: () => signedIn,
  path: '/automations/$automationId',
  validateSearch: search({
    status: word('queued', 'running', 'completed', 'failed', 'cancelled', 'skipped'),
    execution: text,
  }),
  component: page(() => import('../pages/automations/automation-page.tsx'), 'AutomationPage'),
});

const events = createRoute({
  getParentRoute: () => signedIn,
  path: '/events',
  validateSearch: search({
    feed: word('direct'),
    appId: text,
    threadId: text,
    runId: text,
    types: text,
    event: text,
    paused: flag,
  }),
  component: page(() => import('../pages/events/events-page.tsx'), 'EventsPage'),
});
const operations = createRoute({
  getParentRoute: () => signedIn,
  path: '/operations',
  validateSearch: search({ key: text }),
  component: page(() => import('../pages/operations/operations-page.tsx'), 'OperationsPage'),
});
const operation = createRoute({
  getParentRoute: () => signedIn,
  path: '/operations/$operationId',
  component: page(() => import('../pages/operations/operation-page.tsx'), 'OperationPage'),
});
const system = createRoute({
  getParentRoute: () => signedIn,
  path: '/system',
  validateSearch: search({ seconds: whole(60, 86_400), find: text }),
  component: page(() => import('../pages/system/system-page.tsx'), 'SystemPage'),
});

/** The organization's name and its parts, above each of its pages. */
const organization = createRoute({
  getParentRoute: () => signedIn,
  path: '/organization',
  component: page(() => import('../pages/organization/organization-layout.tsx'), 'OrganizationLayout'),
});
const organizationHome = createRoute({
  getParentRoute: () => organization,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/organization/team', replace: true });
  },
});
const team = createRoute({
  getParentRoute: () => organization,
  path: '/team',
  component: page(() => import('../pages/team/team-page.tsx'), 'TeamPage'),
});
const keys = createRoute({
  getParentRoute: () => organization,
  path: '/keys',
  component: page(() => import('../pages/keys/keys-page.tsx'), 'KeysPage'),
});
const serviceAccount = createRoute({
  getParentRoute: () => organization,
  path: '/keys/$accountId',
  component: page(() => import('../pages/keys/account-page.tsx'), 'ServiceAccountPage'),
});
const repositories = createRoute({
  getParentRoute: () => organization,
  path: '/repositories',
  validateSearch: search({ query: text, installationId: text }),
  component: page(() => import('../pages/repositories/repositories-page.tsx'), 'RepositoriesPage'),
});
const repository = createRoute({
  getParentRoute: () => organization,
  path: '/repositories/$repositoryId',
  validateSearch: search({
    part: word('branches', 'pull-requests', 'settings'),
    query: text,
    ref: text,
    state: word('open', 'closed', 'merged'),
  }),
  component: page(() => import('../pages/repositories/repository-page.tsx'), 'RepositoryPage'),
});
const review = createRoute({
  getParentRoute: () => organization,
  path: '/repositories/$repositoryId/pull-requests/$number',
  component: page(() => import('../pages/repositories/review-page.tsx'), 'ReviewPage'),
});
const installation = createRoute({
  getParentRoute: () => organization,
  path: '/installations/$installationId',
  component: page(() => import('../pages/repositories/installation-page.tsx'), 'InstallationPage'),
});
const webhooks = createRoute({
  getParentRoute: () => organization,
  path: '/webhooks',
  component: page(() => import('../pages/webhooks/webhooks-page.tsx'), 'WebhooksPage'),
});
const webhook = createRoute({
  getParentRoute: () => organization,
  path: '/webhooks/$webhookId',
  validateSearch: search({ status: word('pending', 'succeeded', 'failed'), eventType: text, delivery: text }),
  component: page(() => import('../pages/webhooks/webhook-page.tsx'), 'WebhookPage'),
});
const hosts = createRoute({
  getParentRoute: () => organization,
  path: '/hosts',
  component: page(() => import('../pages/hosts/hosts-page.tsx'), 'HostsPage'),
});
const host = createRoute({
  getParentRoute: () => organization,
  path: '/hosts/$hostId',
  component: page(() => import('../pages/hosts/host-page.tsx'), 'HostPage'),
});
const models = createRoute({
  getParentRoute: () => organization,
  path: '/models',
  validateSearch: search({ find: text }),
  component: page(() => import('../pages/models/models-page.tsx'), 'ModelsPage'),
});
const mcpServers = createRoute({
  getParentRoute: () => organization,
  path: '/mcp-servers',
  validateSearch: search({ server: text }),
  component: page(() => import('../pages/mcp-servers/mcp-servers-page.tsx'), 'McpServersPage'),
});
const organizationEnvironment = createRoute({
  getParentRoute: () => organization,
  path: '/environment',
  component: page(() => import('../pages/environment/variables-page.tsx'), 'OrganizationVariablesPage'),
});
const organizationSkills = createRoute({
  getParentRoute: () => organization,
  path: '/skills',
  component: page(() => import('../pages/skills/skills-page.tsx'), 'OrganizationSkillsPage'),
});
const usage = createRoute({
  getParentRoute: () => organization,
  path: '/usage',
  validateSearch: search({ from: text, to: text, groupBy: word('day', 'project', 'thread', 'model') }),
  component: page(() => import('../pages/usage/usage-page.tsx'), 'UsagePage'),
});
const audit = createRoute({
  getParentRoute: () => organization,
  path: '/audit',
  validateSearch: search({ query: text }),
  component: page(() => import('../pages/audit/audit-page.tsx'), 'AuditPage'),
});
const organizationSettings = createRoute({
  getParentRoute: () => organization,
  path: '/settings',
  component: page(() => import('../pages/settings/organization-page.tsx'), 'OrganizationSettingsPage'),
});

/** The app's name and its parts, above each of its pages. */
const app = createRoute({
  getParentRoute: () => signedIn,
  path: '/apps/$appId',
  component: page(() => import('../pages/apps/app-layout.tsx'), 'AppLayout'),
});
const race = createRoute({
  getParentRoute: () => app,
  path: '/',
  validateSearch: search({ show: word('graph', 'table', 'forks'), status: text, thread: text, query: text }),
  component: page(() => import('../pages/race/race-page.tsx'), 'RacePage'),
});
const settings = createRoute({
  getParentRoute: () => app,
  path: '/settings',
  component: page(() => import('../pages/settings/settings-page.tsx'), 'SettingsPage'),
});
const environment = createRoute({
  getParentRoute: () => app,
  path: '/environment',
  component: page(() => import('../pages/environment/variables-page.tsx'), 'AppVariablesPage'),
});
const skills = createRoute({
  getParentRoute: () => app,
  path: '/skills',
  component: page(() => import('../pages/skills/skills-page.tsx'), 'AppSkillsPage'),
});
const sources = createRoute({
  getParentRoute: () => app,
  path: '/sources',
  validateSearch: search({ compare: text }),
  component: page(() => import('../pages/sources/sources-page.tsx'), 'SourcesPage'),
});
const source = createRoute({
  getParentRoute: () => app,
  path: '/sources/$sourceId',
  validateSearch: search({
    file: text,
    L: lines,
    edit: flag,
    q: text,
    regex: flag,
    ignoreCase: flag,
    include: text,
    exclude: text,
  }),
  component: page(() => import('../pages/sources/source-page.tsx'), 'SourcePage'),
});
const diff = createRoute({
  getParentRoute: () => app,
  path: '/diff',
  validateSearch: search({
    from: text,
    to: text,
    file: text,
    L: lines,
    side: word('old'),
    view: word('unified', 'split'),
    space: word('show', 'hide'),
    wrap: flag,
    thread: text,
  }),
  component: page(() => import('../pages/diff/diff-page.tsx'), 'DiffPage'),
});
const thread = createRoute({
  getParentRoute: () => app,
  path: '/threads/$threadId',
  validateSearch: search({
    panel: word('changes', 'pull-request', 'files', 'preview', 'terminal', 'builds', 'events', 'runs'),
    pull: text,
    file: text,
    L: lines,
  }),
  component: page(() => import('../pages/thread/thread-page.tsx'), 'ThreadPage'),
});
const conflicts = createRoute({
  getParentRoute: () => app,
  path: '/threads/$threadId/apply',
  validateSearch: search({ path: text, only: word('open') }),
  component: page(() => import('../pages/conflicts/conflicts-page.tsx'), 'ConflictsPage'),
});
const applies = createRoute({
  getParentRoute: () => app,
  path: '/applies',
  validateSearch: search({
    status: word('queued', 'applied', 'conflicted', 'failed'),
  }),
  component: page(() => import('../pages/applies/applies-page.tsx'), 'AppliesPage'),
});
const apply = createRoute({
  getParentRoute: () => app,
  path: '/applies/$applyId',
  component: page(() => import('../pages/applies/apply-page.tsx'), 'ApplyPage'),
});
const builds = createRoute({
  getParentRoute: () => app,
  path: '/builds',
  validateSearch: search({
    status: word('queued', 'building', 'ready', 'failed'),
    threadId: text,
    sourceId: text,
  }),
  component: page(() => import('../pages/builds/builds-page.tsx'), 'BuildsPage'),
});
const build = createRoute({
  getParentRoute: () => app,
  path: '/builds/$buildId',
  validateSearch: search({ part: word('log', 'files'), compare: text, find: text }),
  component: page(() => import('../pages/builds/build-page.tsx'), 'BuildPage'),
});
const previews = createRoute({
  getParentRoute: () => app,
  path: '/previews',
  validateSearch: search({
    status: word('starting', 'ready', 'failed', 'stopped'),
    threadId: text,
    sourceId: text,
  }),
  component: page(() => import('../pages/previews/previews-page.tsx'), 'PreviewsPage'),
});
const preview = createRoute({
  getParentRoute: () => app,
  path: '/previews/$previewId',
  component: page(() => import('../pages/previews/preview-page.tsx'), 'PreviewPage'),
});
const setups = createRoute({
  getParentRoute: () => app,
  path: '/setups',
  component: page(() => import('../pages/setups/setups-page.tsx'), 'SetupsPage'),
});
const setup = createRoute({
  getParentRoute: () => app,
  path: '/setups/$setupId',
  validateSearch: search({ find: text }),
  component: page(() => import('../pages/setups/setup-page.tsx'), 'SetupPage'),
});
const unknown = createRoute({ getParentRoute: () => signedIn, path: '$', component: NoSuchPage });

export const routeTree = rootRoute.addChildren([
  signIn,
  invitation,
  signedIn.addChildren([
    inbox,
    apps,
    account,
    projects,
    pullRequests,
    tasks,
    task,
    automations,
    automation,
    events,
    operations,
    operation,
    system,
    organization.addChildren([
      organizationHome,
      team,
      keys,
      serviceAccount,
      repositories,
      repository,
      review,
      installation,
      webhooks,
      webhook,
      hosts,
      host,
      models,
      mcpServers,
      organizationEnvironment,
      organizationSkills,
      usage,
      audit,
      organizationSettings,
    ]),
    app.addChildren([
      race,
      settings,
      environment,
      skills,
      sources,
      source,
      diff,
      thread,
      conflicts,
      applies,
      apply,
      builds,
      build,
      previews,
      preview,
      setups,
      setup,
    ]),
    unknown,
  ]),
]);
