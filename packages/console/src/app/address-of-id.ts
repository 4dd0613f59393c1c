/** From an id to its page. Ids of parts of an app do not name it, so the lists over all apps are asked. */
import { HeadraceError } from '@headrace/client';
import { client } from '../api/client.ts';

/** How far back a list is read. */
const MOST = 1_000;

/** Throws HeadraceError 404 for what is not found, or has no page. */
export async function addressOfId(id: string): Promise<string> {
  const prefix = id.slice(0, id.indexOf('_'));
  if (prefix === 'prj') return `/apps/${(await client.apps.get(id)).id}`;
  const find = FINDERS[prefix];
  const address = await find?.(id);
  if (address) return address;
  throw new HeadraceError(404, 'not_found', `No page shows ${id}.`);
}

interface InApp {
  id: string;
  projectId: string;
}

const FINDERS: Record<string, (id: string) => Promise<string | null>> = {
  thr: (id) => inList(client.threads.listAll({ limit: 200 }), id, 'threads'),
  apl: (id) => inList(client.applies.listAll({ limit: 200 }), id, 'applies'),
  bld: (id) => inList(client.builds.listAll({ limit: 200 }), id, 'builds'),
  prv: (id) => inList(client.previews.listAll({ limit: 200 }), id, 'previews'),
  src: sourceAddress,
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
async function sourceAddress(id: string): Promise<string | null> {
  const { items } = await client.apps.list({ limit: 50 });
  for (const app of items)
    try {
      await client.sources.get(app.id, id);
      return `/apps/${app.id}/sources/${id}`;
    } catch (error) {
      if (!(error instanceof HeadraceError && error.status === 404)) throw error;
    }
  return null;
}
