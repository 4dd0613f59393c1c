/** Tabs of a user with a real service: what they show is what the service has, whichever of them leads. */
import type { HeadraceEvent } from '@headrace/client';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { newIdentity, openTab } from '../../../packages/console/src/live/tab.fixture.ts';
import type { Tab } from '../../../packages/console/src/live/tab.fixture.ts';
import { startGround } from '../ground.ts';
import type { Ground } from '../ground.ts';

const CHANGES = 100;
const QUIET_MS = 2_000;

let ground: Ground;
beforeAll(async () => {
  ground = await startGround();
});
afterAll(() => ground?.stop());

test('three tabs show what the service has, apply each event once and in order, and lose none when leaders change', async () => {
  const { client } = ground;
  const readApps = async () => (await client.apps.list({ limit: 200 })).items;
  const identity = newIdentity();
  const open = () => {
    const tab = openTab({ client, identity });
    tab.show('apps', readApps, { types: ['platform.app.'] });
    return tab;
  };
  const first = open();
  const tabs = [first, open(), open()];
  try {
    await isLive(...tabs);
    const app = await client.apps.create({ name: 'The first' });
    for (let n = 1; n < CHANGES; n++) {
      if (n % 10 === 0) await client.apps.create({ name: `App ${n}` });
      else await client.apps.update(app.id, { name: `Change ${n}` });
      if (n === 30) first.live.stop();
      if (n === 60) tabs[1]!.freeze(true);
      if (n === 70) await vi.waitFor(() => expect(tabs[2]!.events).toHaveLength(71), { timeout: 5_000 });
      if (n === 80) tabs.push(open());
      if (n === 90) tabs[2]!.live.stop();
      if (n === 95) tabs[1]!.freeze(false);
    }
    const [, second, , fourth] = tabs as [Tab, Tab, Tab, Tab];
    const truth = await readApps();
    for (const tab of [second, fourth])
      await vi.waitFor(() => expect(tab.queries.getQueryData(['apps'])).toEqual(truth), {
        timeout: QUIET_MS,
      });
    const all = (await client.events.list({}, { limit: 500 })).events.map(({ id }) => id);
    expect(all).toHaveLength(CHANGES);
    await vi.waitFor(() => expect(idsOf(second.events)).toEqual(all));
    for (const tab of tabs)
      expect(idsOf(tab.events)).toEqual(all.filter((id) => idsOf(tab.events).includes(id)));
    expect(all.slice(0, idsOf(first.events).length)).toEqual(idsOf(first.events));
  } finally {
    for (const tab of tabs) tab[Symbol.dispose]();
  }
}, 60_000);

const idsOf = (events: HeadraceEvent[]) => events.map(({ id }) => id);

const isLive = (...tabs: Tab[]) =>
  vi.waitFor(
    () => {
      for (const tab of tabs) expect(tab.live.status().state).toBe('live');
    },
    { timeout: 10_000 },
  );
