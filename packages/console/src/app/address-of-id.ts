/** From an id to its page. Ids of parts of an app do not name it, so the lists over all apps are asked. */
import { HeadraceError } from '@headrace/client';
import type { CallOptions } from '@headrace/client';
import { client, READ_TIMEOUT_MS } from '../api/client.ts';

/** How far back a list is read. */
const MOST = 1_000;
/** Of these, each is asked for a source or a setup. */
const MOST_APPS = 10;

/** Null for what is not found, or has no page. */
export async function addressOfId(id: string, signal: AbortSignal): Promise<string | null> {
  const prefix = id.slice(0, id.indexOf('_'));
  const options = { signal, timeoutMs: READ_TIMEOUT_MS };
  return (await FINDERS[prefix]?.(id, options)) ?? null;
}

interface InApp {
  id: string;
  projectId: string;
}

const FINDERS: Record<string, (id: string, options: CallOptions) => Promise<string | null>> = {
  prj: async (id, options) => ((await isKnown(client.apps.get(id, options))) ? `/apps/${id}` : null),
  thr: (id, options) => inList(client.threads.listAll({ ...options, limit: 200 }), id, 'threads'),
  apl: (id, options) => inList(client.applies.listAll({ ...options, limit: 200 }), id, 'applies'),
  bld: (id, options) => inList(client.builds.listAll({ ...options, limit: 200 }), id, 'builds'),
  prv: (id, options) => inList(client.previews.listAll({ ...options, limit: 200 }), id, 'previews'),
  src: (id, options) => inApps(id, 'sources', (appId) => client.sources.get(appId, id, options), options),
  set: (id, options) => inApps(id, 'setups', (appId) => client.setups.get(appId, id, options), options),
};

async function inList(list: AsyncIterable<InApp>, id: string, part: string): Promise<string | null> {
  let read = 0;
  for await (const item of list) {
    if (item.id === id) return `/apps/${item.projectId}/${part}/${id}`;
    read++;
    if (read >= MOST) return null;
  }
  return null;
}

/** Asks the apps one after the other, the newest first. */
async function inApps(
  id: string,
  part: string,
  get: (appId: string) => PromiseLike<unknown>,
  options: CallOptions,
): Promise<string | null> {
  const { items } = await client.apps.list({ ...options, limit: MOST_APPS });
  for (const app of items) if (await isKnown(get(app.id))) return `/apps/${app.id}/${part}/${id}`;
  return null;
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
