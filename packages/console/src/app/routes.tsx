/** Every page: its address, its search parameters and where its code is. Pages are loaded when they are opened. */
import { createRootRoute, createRoute, redirect } from '@tanstack/react-router';
import { sessionQuery } from '../api/session.ts';
import { queries } from './queries.ts';
import { Shell } from './shell.tsx';
import { NoSuchPage, PageFailure, Root } from './root.tsx';
import { page } from './load-page.ts';
import { beginLive, whenReady } from './session.tsx';
import { INBOX } from '../pages/inbox/reads.ts';
import { flag, lines, search, text, word } from './search.ts';

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
    if (!preload) beginLive(session.user.id, session.activeOrganizationId ?? '');
  },
});

const inbox = createRoute({
  getParentRoute: () => signedIn,
  path: '/',
  component: page(() => import('../pages/inbox/inbox-page.tsx'), 'InboxPage'),
  // A link that is pointed at loads only the code: a click soon after still reads.
  preloadStaleTime: 0,
  loader: reading(() => {
    const { asking, threads, applies, latest, builds, apps } = INBOX;
    for (const query of [asking, threads, latest]) void queries.prefetchInfiniteQuery(query);
    void queries.prefetchInfiniteQuery(applies);
    void queries.prefetchInfiniteQuery(builds);
    void queries.prefetchInfiniteQuery(apps);
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

const organizationSettings = createRoute({
  getParentRoute: () => signedIn,
  path: '/organization/settings',
  component: page(() => import('../pages/settings/organization-page.tsx'), 'OrganizationSettingsPage'),
});
const organizationEnvironment = createRoute({
  getParentRoute: () => signedIn,
  path: '/organization/environment',
  component: page(() => import('../pages/environment/variables-page.tsx'), 'OrganizationVariablesPage'),
});
const organizationSkills = createRoute({
  getParentRoute: () => signedIn,
  path: '/organization/skills',
  component: page(() => import('../pages/skills/skills-page.tsx'), 'OrganizationSkillsPage'),
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
  validateSearch: search({ show: word('graph', 'table'), status: text, thread: text, query: text }),
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
    panel: word('changes', 'files', 'preview', 'terminal', 'builds', 'events', 'runs'),
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
  validateSearch: search({ status: word('queued', 'building', 'ready', 'failed') }),
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
  validateSearch: search({ status: word('starting', 'ready', 'failed', 'stopped') }),
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
    organizationSettings,
    organizationEnvironment,
    organizationSkills,
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
