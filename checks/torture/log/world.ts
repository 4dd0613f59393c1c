/** What writers write to, and the feeds on which readers see it. */
import { newAppWith } from '../../harness/apps.ts';
import { PLATFORM } from '../../harness/http.ts';
import type { Caller } from '../../harness/http.ts';
import type { LoggedEvent } from '../lib/log-table.ts';

export interface World {
  apps: string[];
  projects: string[];
  /** Paths of threads. */
  threads: string[];
  /** Of an app with a head: new threads are opened in it. */
  home: string;
}

export interface Feed {
  what: string;
  /** Path of the feed. */
  path: string;
  /** Its filters, with `?` or `&` not in front. */
  query: string;
  /** What the log's rows have to be for this feed to show them. */
  shows(event: LoggedEvent): boolean;
}

const APPS = 24;
const PROJECTS = 6;
const THREADS = 4;

/** Apps, projects and threads to write to. */
export async function makeWorld(caller: Caller): Promise<World> {
  const { app: home, sourceId } = await newAppWith(caller, [{ path: 'README.md', content: 'An app.\n' }]);
  const world: World = { apps: [], projects: [], threads: [], home };
  for (let i = 0; i < APPS; i++)
    world.apps.push(
      `${PLATFORM}/apps/${(await caller.call('POST', `${PLATFORM}/apps`, { name: `App ${i}` })).body.app.id as string}`,
    );
  for (let i = 0; i < PROJECTS; i++)
    world.projects.push(
      `/api/projects/${(await caller.call('POST', '/api/projects', { name: `Project ${i}` })).body.project.id as string}`,
    );
  for (let i = 0; i < THREADS; i++)
    world.threads.push(
      `${home}/threads/${(await caller.call('POST', `${home}/threads`, { sourceId })).body.thread.id as string}`,
    );
  return world;
}

/** Most read all apps; some one app, one type, or the Direct feed: no filter may lose anything either. */
export function feedsOf({ apps }: World): Feed[] {
  const all: Feed = {
    what: 'all apps',
    path: `${PLATFORM}/events`,
    query: '',
    shows: (event) => event.feed === 'platform',
  };
  const [app] = apps;
  return [
    all,
    all,
    all,
    all,
    all,
    {
      what: 'one type',
      path: `${PLATFORM}/events`,
      query: 'types=run.completed,platform.app.created',
      shows: ({ feed, type }) =>
        feed === 'platform' && ['run.completed', 'platform.app.created'].includes(type),
    },
    {
      what: 'one app',
      path: `${app!}/events`,
      query: '',
      shows: ({ projectId }) => projectId === app!.split('/').at(-1),
    },
    { what: 'the Direct feed', path: '/api/events', query: '', shows: (event) => event.feed === 'direct' },
  ];
}
