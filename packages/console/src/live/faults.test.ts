/**
 * Faults in a random order: each tab applies each event of each feed at most once, in order, and ends with what the
 * service has. A second service in memory is the Direct API of the first one.
 */
import { createClient } from '@headrace/client';
import { createTestService } from '@headrace/client/testing';
import { expect, test, vi } from 'vitest';
import { newIdentity, openTab } from './tab.fixture.ts';
import type { Tab } from './tab.fixture.ts';

const STEPS = 60;
const MOST_TABS = 6;
/** They add up: each is of one attempt, and attempts become rarer. */
const MOST_REFUSALS = 3;
/** A tab that meets the failed reads that are left over one after the other waits longer before each. */
const SETTLES_MS = 40_000;
/** How long a fault of the network or of a tab lasts. */
const FAULT_MS = 30;

type Service = ReturnType<typeof createTestService>;

/** The addresses of the Direct API that are asked for here, as the second service has them. */
const DIRECT = /\/api\/(?=events|projects)/;
const directly =
  (apps: Service, direct: Service): typeof fetch =>
  (input, init) => {
    const request = new Request(input, init);
    if (!DIRECT.test(request.url)) return apps.fetch(request);
    const url = request.url.replace(DIRECT, '/api/platform/v1/').replace('/v1/projects', '/v1/apps');
    return direct.fetch(new Request(url, request));
  };

const newWorld = () => {
  const services = [createTestService(), createTestService()] as const;
  const [{ url, key }] = services;
  const client = createClient({ baseUrl: url, key, fetch: directly(...services) });
  const direct = createClient({ baseUrl: url, key, fetch: services[1].fetch });
  const identity = newIdentity();
  const namesOf = async (of: typeof client) =>
    (await of.apps.list({ limit: 200 })).items.map(({ name }) => name);
  const read = async () => ({ apps: await namesOf(client), projects: await namesOf(direct) });
  const tabs: Tab[] = [];
  const stopped = new Set<Tab>();
  const open = () => {
    const tab = openTab({ client, identity });
    tab.show('all', read, { types: ['platform.app.'] });
    tabs.push(tab);
  };
  return { services, writers: [client, direct] as const, read, tabs, stopped, open, refusals: 0 };
};

const later = (run: () => void) => void setTimeout(run, FAULT_MS);

const FAULTS: ((world: ReturnType<typeof newWorld>, tab: Tab) => void)[] = [
  (_, tab) => tab.freeze(true),
  (_, tab) => tab.freeze(false),
  ({ tabs, open }) => tabs.length < MOST_TABS && open(),
  ({ tabs, stopped }, tab) => {
    if (tabs.length - stopped.size < 3) return;
    stopped.add(tab);
    tab.live.stop();
  },
  ({ services }) => services[0].dropStreams(),
  ({ services }) => services[1].dropStreams(),
  (world) => {
    if (world.refusals++ >= MOST_REFUSALS) return;
    const code = world.refusals % 2 ? 'network' : 'unavailable';
    for (const service of world.services) service.failNext('events.stream', { code });
  },
  ({ services }) => services[0].failNext('apps.list', { code: 'network' }),
  ({ services }) => services[0].expireCursors(),
  ({ services }) => services[1].expireCursors(),
  (_, tab) => {
    tab.lose(true);
    later(() => tab.lose(false));
  },
  (_, tab) => {
    tab.set({ online: false });
    later(() => tab.set({ online: true }));
  },
  (_, tab) => {
    tab.set({ visible: false });
    later(() => tab.set({ visible: true }));
  },
];

/** Numbers from 0 to `n` - 1, the same for the same seed. */
function numbers(seed: number): (n: number) => number {
  let state = seed;
  return (n) => (state = (state * 48_271) % 2_147_483_647) % n;
}

test.concurrent.each([11, 22, 33, 44, 55, 66, 77, 88])(
  'seed %i',
  async (seed) => {
    const below = numbers(seed);
    const world = newWorld();
    const { writers, tabs, stopped, open, read } = world;
    // The services count alike: no two apps here have the same id, or sequences.
    await writers[1].apps.create({ name: 'Another' });
    open();
    open();
    try {
      const apps = await Promise.all(writers.map((writer) => writer.apps.create({ name: 'An app' })));
      const rename = (at: number, name: string) => writers[at]!.apps.update(apps[at]!.id, { name });
      for (let step = 0; step < STEPS; step++) {
        const draw = below(3);
        if (draw < 2) await rename(draw, `Step ${step}`);
        if (draw > 0) FAULTS[below(FAULTS.length)]!(world, tabs[below(tabs.length)]!);
        const pauseMs = below(40);
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
      for (const tab of tabs) tab.freeze(false);
      for (const at of [0, 1]) await rename(at, 'The end');
      const truth = await vi.waitFor(read, { timeout: SETTLES_MS });
      for (const tab of tabs.filter((shown) => !stopped.has(shown)))
        await vi.waitFor(() => expect(tab.queries.getQueryData(['all'])).toEqual(truth), {
          timeout: SETTLES_MS,
        });
      for (const { events } of tabs)
        for (const { id } of apps) {
          const own = events.filter(({ projectId }) => projectId === id);
          const sequence = own.map((event) => Number(event.sequence));
          expect(sequence).toEqual([...new Set(sequence)].toSorted((a, b) => a - b));
        }
    } finally {
      for (const tab of tabs) tab[Symbol.dispose]();
    }
  },
  120_000,
);
