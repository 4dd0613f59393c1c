/** The oracle of the live store: after each fault, what a page shows equals what the service answers. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, Thread } from '@headrace/client';
import type { Page } from 'playwright-core';
import { createRandom } from '../harness/random.ts';
import type { Random } from '../harness/random.ts';
import type { Visit } from './browser.ts';
import { directClient, makeApp, startGround } from './ground.ts';
import type { App, Ground, Site } from './ground.ts';
import { startProxy } from './proxy.ts';
import type { Asked, Fault, Proxy } from './proxy.ts';
import type { Rig } from './rig.ts';

/** How soon a page is right again, once it is connected and nothing happens any more. */
export const RIGHT_MS = 2_000;
/** How soon it is connected again. */
const LIVE_MS = 12_000;
/** A user's pages refetch at most 120 times a minute, and wait then: the faults come more slowly. */
const PACE = 90;
/** Where only the sidebar has data. */
export const QUIET_PAGE = '/console/account';
/** The sidebar's list of the latest threads. */
const SHOWN = 12;

export interface Row {
  id: string;
  title: string;
  status: string;
}

export interface Field extends Waters {
  page: Page;
}

/** A quiet service behind a proxy, with some threads to show. */
export interface Waters {
  ground: Ground;
  /** Writes to apps and Direct projects. */
  client: Client;
  proxy: Proxy;
  app: App;
  /** A Direct project. */
  projectId: string;
  /** Whose connections break on purpose. */
  visit(rig: Rig): Promise<Visit>;
  close(): Promise<void>;
}

export async function makeWaters(): Promise<Waters> {
  const ground = await startGround();
  const proxy = await startProxy(ground.base);
  const app = await makeApp(ground.client);
  const client = directClient(ground);
  const { id: projectId } = await client.projects.create({ name: 'A Direct project' });
  for (let i = 1; i <= 5; i++) {
    await client.threads.create(app.id, { title: `Thread ${i}` });
    await client.threads.createDirect({ projectId, title: `Direct thread ${i}` });
  }
  return {
    ground,
    client,
    proxy,
    app,
    projectId,
    async visit(rig) {
      const visit = await rig.visit({ base: proxy.base, state: ground.state });
      visit.allows(/net::ERR/, /: (410|429|503)$/);
      return visit;
    },
    async close() {
      await proxy.close();
      await ground.stop();
    },
  };
}

/** The threads of the sidebar, from top to bottom. */
export function rowsOf(page: Page): Promise<Row[]> {
  return page.evaluate<
    Row[]
  >(`[...document.querySelectorAll('nav[aria-label="Console"] a[href*="/threads/"]')].map((a) => ({
    id: a.getAttribute('href').split('/').at(-1),
    title: a.querySelector('span[title]')?.title ?? '',
    status: a.querySelector('svg')?.getAttribute('aria-label') ?? '',
  }))`);
}

/** A fresh snapshot, as the sidebar has to show it. */
export async function snapshot({ client }: Pick<Site, 'client'>): Promise<Row[]> {
  const { items } = await client.threads.listDirect({ sort: 'activity' });
  return items
    .filter(({ archivedAt }) => archivedAt === null)
    .slice(0, SHOWN)
    .map(({ id, title, status }) => ({ id, title: title ?? '', status }));
}

/**
 * Returns how many ms after the last change the page was right; throws with the difference if it took too long. Each
 * snapshot is fresh: runs go on meanwhile.
 */
export async function untilRight({
  ground,
  page,
}: {
  ground: Pick<Site, 'client'>;
  page: Page;
}): Promise<number> {
  let from = performance.now();
  let wanted = '';
  for (;;) {
    const now = JSON.stringify(await snapshot(ground));
    if (now !== wanted) [wanted, from] = [now, performance.now()];
    const shown = JSON.stringify(await rowsOf(page));
    const ms = performance.now() - from;
    if (shown === wanted) return ms;
    if (ms > RIGHT_MS)
      throw new Error(`After ${ms.toFixed(0)} ms the page shows\n${shown}\ninstead of\n${wanted}`);
    await sleep(25);
  }
}

export async function untilLive(page: Page): Promise<void> {
  await page.locator('[data-live="live"]').waitFor({ timeout: LIVE_MS });
}

type Kind = Fault['kind'] | 'expired' | 'scope' | 'limited' | 'away' | 'cut all';
export const KINDS: Kind[] = [
  'cut',
  'cut all',
  'stall',
  'delay',
  'repeat',
  'refuse',
  'answer',
  'expired',
  'scope',
  'limited',
  'away',
];

function faultOf(kind: Kind, random: Random): Fault | null {
  switch (kind) {
    case 'cut':
    case 'stall':
      return { kind, after: random.below(1500) };
    case 'delay':
      return { kind, ms: 50 + random.below(600) };
    case 'repeat':
    case 'refuse':
      return { kind };
    case 'answer':
      return { kind: 'answer', status: 503, code: 'unavailable' };
    case 'expired':
      return { kind: 'answer', status: 410, code: 'cursor_expired' };
    case 'scope':
      return { kind: 'answer', status: 410, code: 'cursor_scope_changed' };
    case 'limited':
      return { kind: 'answer', status: 429, code: 'rate_limited', retryAfterSeconds: 1 };
    default:
      return null;
  }
}

/** One fault amid some writes; resolves to how long the page took to be right, or throws with the fault's name. */
export async function meet(field: Field, index: number, seed: number): Promise<number> {
  const random = createRandom(seed).fork(`fault ${index}`);
  const kind = index < KINDS.length ? KINDS[index]! : random.pick(KINDS);
  // Most faults meet the stream; some meet whatever is asked next.
  const isAny = kind !== 'stall' && kind !== 'expired' && kind !== 'scope' && random.below(4) === 0;
  const fault = faultOf(kind, random);
  const lane = random.pick(['/api/events/stream', '/api/platform/v1/events/stream']);
  const { proxy } = field;
  await untilPaced(proxy);
  try {
    if (kind === 'away') {
      proxy.goAway(true);
      await change(field, random);
      proxy.goAway(false);
    } else {
      let left = fault === null ? 0 : 1;
      proxy.plan((asked) => {
        const isMet =
          asked.path.startsWith(lane) || (isAny && asked.path.startsWith('/api/') && asked.method === 'GET');
        return isMet && left-- > 0 ? fault : null;
      });
      if (random.below(3) === 0) await change(field, random);
      proxy.cutStreams();
      await change(field, random);
      if (kind === 'stall') {
        await untilAsked(proxy, () => left <= 0);
        await change(field, random);
        proxy.release();
      }
      await untilAsked(proxy, () => left <= 0);
    }
    await untilLive(field.page);
    return await untilRight(field);
  } catch (error) {
    throw new Error(
      `Fault ${index} of seed ${seed} (${kind}${isAny ? ' of any request' : ''}): ${(error as Error).message}`,
      {
        cause: error,
      },
    );
  } finally {
    proxy.plan(() => null);
  }
}

async function untilPaced(proxy: Proxy): Promise<void> {
  const isCounted = ({ path, isStream, at }: Asked) =>
    !isStream && path.startsWith('/api/') && performance.now() - at < 60_000;
  while (proxy.asked().filter(isCounted).length > PACE) await sleep(250);
}

async function untilAsked(proxy: Proxy, isDone: () => boolean): Promise<void> {
  for (const deadline = Date.now() + LIVE_MS; !isDone(); await sleep(10))
    if (Date.now() > deadline)
      throw new Error(`The fault was not met; ${proxy.streams().open} streams are open`);
}

/** Writes that change what is shown: at least one with an event on each feed. */
async function change({ client, app, projectId }: Field, random: Random): Promise<void> {
  const { items } = await client.threads.listDirect({ sort: 'activity' });
  const threads = items.filter((thread) => !thread.archivedAt);
  const rename = ({ projectId: of, id }: Thread) =>
    client.threads.update(of, id, { title: `Title ${random.below(1e9).toString(36)}` });
  const isOfApp = (thread: Thread) => thread.projectId === app.id;
  await rename(random.pick(threads.filter(isOfApp)));
  await rename(random.pick(threads.filter((thread) => !isOfApp(thread))));
  for (let i = 0; i < random.below(3); i++) {
    const draw = random.below(10);
    const title = `Title ${random.below(1e9).toString(36)}`;
    const thread = random.pick(threads);
    const oldest = threads.at(-1)!;
    // Of each kind, some stay.
    const isSpare = threads.filter((one) => isOfApp(one) === isOfApp(oldest)).length > 3;
    if (draw < 4) await rename(thread);
    else if (draw < 6) await client.threads.create(app.id, { title });
    else if (draw < 8) await client.threads.createDirect({ projectId, title });
    else if (draw === 8 && isSpare)
      await client.threads.update(oldest.projectId, oldest.id, { archived: true }).catch(() => {});
    else await client.messages.send(thread.projectId, thread.id, { content: 'Nothing to run.' });
  }
}
