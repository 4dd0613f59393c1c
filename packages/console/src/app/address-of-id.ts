/** From an id to its page. Ids of parts of an app or a project do not name it, so lists are asked. */
import { HeadraceError } from '@headrace/client';
import type { CallOptions } from '@headrace/client';
import { client, READ_TIMEOUT_MS } from '../api/client.ts';
import { queries } from './queries.ts';
import { sessionQuery } from '../api/session.ts';

/** How far back a list is read. */
const MOST = 1_000;
/** Of each kind; each is asked for a part of it. */
const MOST_PROJECTS = 10;

/** `href`: null for what is not found, or has no page. `isCut`: older ones were not looked at. */
interface Found {
  href: string | null;
  isCut: boolean;
}

export async function addressOfId(id: string, signal: AbortSignal): Promise<Found> {
  const prefix = id.slice(0, id.indexOf('_'));
  const options = { signal, timeoutMs: READ_TIMEOUT_MS };
  return (await FINDERS[prefix]?.(id, options)) ?? missing();
}

const found = (href: string): Found => ({ href, isCut: false });
const missing = (isCut = false): Found => ({ href: null, isCut });

type Find = (id: string, options: CallOptions) => Promise<Found>;
type Get = (projectId: string, id: string, options: CallOptions) => PromiseLike<unknown>;

/** What has an address of its own. */
const at =
  (path: string, get: (id: string, options: CallOptions) => PromiseLike<unknown>): Find =>
  async (id, options) =>
    (await isKnown(get(id, options))) ? found(`${path}/${id}`) : missing();

const FINDERS: Record<string, Find> = {
  prj: at('/apps', client.projects.get),
  aut: at('/automations', client.automations.get),
  task: at('/tasks', client.tasks.get),
  op: at('/operations', client.operations.get),
  wh: at('/organization/webhooks', client.webhooks.get),
  hst: at('/organization/hosts', client.hosts.get),
  repo: at('/organization/repositories', client.scm.getRepository),
  ins: at('/organization/installations', client.scm.getInstallation),
  sa: at('/organization/keys', client.accounts.get),
  thr: (id, options) => inList(client.threads.listDirect({ ...options, limit: 200 }), id, 'threads'),
  apl: (id, options) => inListOrDirect('applies', client.applies, id, options),
  bld: (id, options) => inListOrDirect('builds', client.builds, id, options),
  prv: (id, options) => inListOrDirect('previews', client.previews, id, options),
  src: (id, options) => inProjects({ part: 'sources', get: client.sources.get }, id, options),
  set: (id, options) => inProjects({ part: 'setups', get: client.setups.get }, id, options),
  pr: ofPullRequest,
};

interface InProject {
  id: string;
  projectId: string;
}

async function inList(list: AsyncIterable<InProject>, id: string, part: string): Promise<Found> {
  let read = 0;
  for await (const item of list) {
    if (read >= MOST) return missing(true);
    if (item.id === id) return found(`/apps/${item.projectId}/${part}/${id}`);
    read++;
  }
  return missing();
}

/** One list has those of all apps; each Direct project has its own. */
async function inListOrDirect(
  part: string,
  calls: { listAll(options: CallOptions & { limit: number }): AsyncIterable<InProject>; get: Get },
  id: string,
  options: CallOptions,
): Promise<Found> {
  const ofApps = mayHaveApps()
    ? await inList(calls.listAll({ ...options, limit: 200 }), id, part)
    : missing();
  if (ofApps.href !== null) return ofApps;
  const ofProjects = await inProjects({ part, get: calls.get, kinds: ['direct'] }, id, options);
  return { ...ofProjects, isCut: ofProjects.href === null && (ofApps.isCut || ofProjects.isCut) };
}

const mayHaveApps = () => queries.getQueryData(sessionQuery.queryKey)?.entitlements.platformApi;

/** Asks the projects one after the other, the newest first. */
async function inProjects(
  { part, get, kinds }: { part: string; get: Get; kinds?: ('direct' | 'platform')[] },
  id: string,
  options: CallOptions,
): Promise<Found> {
  let isCut = false;
  for (const kind of kinds ?? (mayHaveApps() ? (['platform', 'direct'] as const) : (['direct'] as const))) {
    const { items, hasMore } = await client.projects.list({ ...options, limit: MOST_PROJECTS, kind });
    for (const project of items)
      if (await isKnown(get(project.id, id, options))) return found(`/apps/${project.id}/${part}/${id}`);
    isCut ||= hasMore;
  }
  return missing(isCut);
}

/** The thread whose primary pull request it is. */
async function ofPullRequest(id: string, options: CallOptions): Promise<Found> {
  let isCut = false;
  for (const pullRequestState of ['open', 'merged', 'closed'] as const) {
    const { items, hasMore } = await client.threads.listDirect({ ...options, limit: 200, pullRequestState });
    const thread = items.find(({ primaryPullRequest }) => primaryPullRequest?.id === id);
    if (thread) return found(`/apps/${thread.projectId}/threads/${thread.id}`);
    isCut ||= hasMore;
  }
  return missing(isCut);
}

async function isKnown(call: PromiseLike<unknown>): Promise<boolean> {
  try {
    await call;
    return true;
  } catch (error) {
    if (error instanceof HeadraceError && error.status === 404) return false;
    throw error;
  }
}
