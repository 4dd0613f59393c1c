/** Faults in a random order: each tab applies each event at most once, in order, and ends with what the service has. */
import { createClient } from '@headrace/client';
import { createTestService } from '@headrace/client/testing';
import { expect, test, vi } from 'vitest';
import { newIdentity, openTab } from './tab.fixture.ts';
import type { Tab } from './tab.fixture.ts';

const STEPS = 60;
const MOST_TABS = 6;
/** They add up: each is of one attempt, and attempts become rarer. */
const MOST_REFUSALS = 3;
/** How long a fault of the network or of a tab lasts. */
const FAULT_MS = 30;

const newWorld = () => {
  const service = createTestService();
  const client = createClient({ baseUrl: service.url, key: service.key, fetch: service.fetch });
  const identity = newIdentity();
  const read = async () => (await client.apps.list({ limit: 200 })).items;
  const tabs: Tab[] = [];
  const stopped = new Set<Tab>();
  const open = () => {
    const tab = openTab({ client, identity });
    tab.show('apps', read, { types: ['platform.app.'] });
    tabs.push(tab);
  };
  return { service, client, read, tabs, stopped, open, refusals: 0 };
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
  ({ service }) => service.dropStreams(),
  (world) => {
    if (world.refusals++ < MOST_REFUSALS)
      world.service.failNext('events.stream', { code: world.refusals % 2 ? 'network' : 'unavailable' });
  },
  ({ service }) => service.failNext('apps.list', { code: 'network' }),
  ({ service }) => service.expireCursors(),
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
    const { client, tabs, stopped, open, read } = world;
    open();
    open();
    try {
      const app = await client.apps.create({ name: 'An app' });
      for (let step = 0; step < STEPS; step++) {
        if (below(3) === 0) await client.apps.update(app.id, { name: `Step ${step}` });
        else FAULTS[below(FAULTS.length)]!(world, tabs[below(tabs.length)]!);
        const pauseMs = below(40);
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
      for (const tab of tabs) tab.freeze(false);
      await client.apps.update(app.id, { name: 'The end' });
      const truth = (await vi.waitFor(read)).map(({ name }) => name);
      for (const tab of tabs.filter((shown) => !stopped.has(shown)))
        await vi.waitFor(
          () =>
            expect(tab.queries.getQueryData<{ name: string }[]>(['apps'])?.map(({ name }) => name)).toEqual(
              truth,
            ),
          { timeout: 10_000 },
        );
      for (const { events } of tabs) {
        const sequence = events.map((event) => Number(event.sequence));
        expect(sequence).toEqual([...new Set(sequence)].toSorted((a, b) => a - b));
      }
    } finally {
      for (const tab of tabs) tab[Symbol.dispose]();
    }
  },
  60_000,
);
