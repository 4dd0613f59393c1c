import { expect, test, vi } from 'vitest';
import { createClient } from '@headrace/client';
import { createTestService } from '@headrace/client/testing';
import { newIdentity, openTab } from './tab.fixture.ts';
import type { Tab } from './tab.fixture.ts';

test.each(Array.from({ length: 12 }, (_, n) => n + 1))(
  'faults in a random order, seed %i',
  async (seed) => {
    let state = seed;
    const below = (n: number) => (state = (state * 48271) % 2147483647) % n;
    const service = createTestService();
    const client = createClient({ baseUrl: service.url, key: service.key, fetch: service.fetch });
    const identity = newIdentity();
    const log: string[] = [];
    const read = async () => (await client.apps.list({ limit: 200 })).items;
    const tabs: Tab[] = [];
    const open = () => {
      const tab = openTab({ client, identity });
      tab.show('apps', read, { types: ['platform.app.'] });
      tabs.push(tab);
    };
    open();
    open();
    const frozen = new Set<Tab>();
    const closed = new Set<Tab>();
    const app = await client.apps.create({ name: 'An app' });
    for (let step = 0; step < 60; step++) {
      const tab = tabs[below(tabs.length)]!;
      const what = below(12);
      log.push(`${what}`);
      if (what === 0) {
        frozen.add(tab);
        tab.freeze(true);
      } else if (what === 1) {
        frozen.delete(tab);
        tab.freeze(false);
      } else if (what === 2 && tabs.length < 6) open();
      else if (what === 3 && tabs.length - closed.size > 2) {
        closed.add(tab);
        tab.live.stop();
      } else if (what === 4) service.dropStreams();
      else if (what === 5) service.failNext('events.list', { times: 1 });
      else if (what === 6 && below(3) === 0) service.expireCursors();
      else if (what === 7) {
        tab.lose(true);
        setTimeout(() => tab.lose(false), 30);
      } else if (what === 8) {
        tab.set({ online: false });
        setTimeout(() => tab.set({ online: true }), 20);
      } else if (what === 9) {
        tab.set({ visible: false });
        setTimeout(() => tab.set({ visible: true }), 20);
      } else await client.apps.update(app.id, { name: `Step ${step}` });
      await new Promise((resolve) => setTimeout(resolve, below(40)));
    }
    for (const tab of frozen) tab.freeze(false);
    await client.apps.update(app.id, { name: 'The end' });
    try {
      const truth = await read();
      for (const tab of tabs) {
        if (closed.has(tab)) continue;
        await vi.waitFor(() => expect(tab.queries.getQueryData(['apps'])).toEqual(truth), { timeout: 4000 });
        const numbers = tab.events.map(({ sequence }) => Number(sequence));
        for (const [at, n] of numbers.entries()) if (at) expect(n).toBeGreaterThan(numbers[at - 1]!);
      }
    } finally {
      for (const tab of tabs) tab[Symbol.dispose]();
    }
  },
  60_000,
);
