/** Tabs of a user with a real service: what they show is what the service has, whichever of them leads. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { newIdentity, openTab } from '../../../packages/console/src/live/tab.fixture.ts';
import type { Tab } from '../../../packages/console/src/live/tab.fixture.ts';
import { directClient, startGround } from '../ground.ts';
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
    const direct = directClient(ground);
    const thread = await newDirectThread({ client: direct });
    for (let n = 1; n < CHANGES; n++) {
      if (n % 10 === 0) await client.apps.create({ name: `App ${n}` });
      else await client.apps.update(app.id, { name: `Change ${n}` });
      await direct.threads.update(thread.projectId, thread.id, { title: `Change ${n}` });
      if (n === 30) first.live.stop();
      if (n === 60) tabs[1]!.freeze(true);
      if (n === 70) await vi.waitFor(() => expect(idsOf(tabs[2]!).apps).toHaveLength(71), { timeout: 5_000 });
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
    const all = await idsOfService();
    expect(all.apps).toHaveLength(CHANGES);
    expect(all.direct.length).toBeGreaterThanOrEqual(CHANGES);
    await vi.waitFor(() => expect(idsOf(second)).toEqual(all));
    for (const lane of ['apps', 'direct'] as const) {
      for (const tab of tabs) {
        const own = idsOf(tab)[lane];
        expect(own).toEqual(all[lane].filter((id) => own.includes(id)));
      }
      const early = idsOf(first)[lane];
      expect(all[lane].slice(0, early.length)).toEqual(early);
    }
  } finally {
    for (const tab of tabs) tab[Symbol.dispose]();
  }
}, 60_000);

/** A thread of a Direct project. */
async function newDirectThread({ client }: Pick<Ground, 'client'>) {
  const project = await client.projects.create({ name: 'Direct' });
  return (await client.threads.createDirect({ projectId: project.id, title: 'One' })).thread;
}

const idsOf = ({ events }: Tab) => ({
  apps: events.filter((event) => 'appId' in event).map(({ id }) => id),
  direct: events.filter((event) => !('appId' in event)).map(({ id }) => id),
});

async function idsOfService() {
  const { events } = ground.client;
  const [apps, direct] = await Promise.all([
    events.list({}, { limit: 500 }),
    events.list({ direct: true }, { limit: 500 }),
  ]);
  return { apps: apps.events.map(({ id }) => id), direct: direct.events.map(({ id }) => id) };
}

const isLive = (...tabs: Tab[]) =>
  vi.waitFor(
    () => {
      for (const tab of tabs) expect(tab.live.status().state).toBe('live');
    },
    { timeout: 10_000 },
  );
