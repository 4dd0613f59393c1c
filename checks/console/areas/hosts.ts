/** The pages of hosts, people's own machines. Their programs are in hosts.test.ts. */
import type { Page } from 'playwright-core';
import type { Ground, Site, WholeGround } from '../ground.ts';
import { none } from '../scene.ts';
import { press } from '../writes.ts';
import type { Write } from '../writes.ts';
import type { Area } from './area.ts';
import { asOwner } from './team/ground.ts';

/** One that never connected. */
export async function hostsGround(site: Site) {
  const { host } = await asOwner(site).hosts.create({ name: 'The build box' });
  return { id: host.id };
}

const name = (page: Page) => page.getByRole('textbox', { name: 'Name', exact: true });
const more = async (page: Page, item: string) => {
  await press(page, 'More');
  await page.getByRole('menuitem', { name: item, exact: true }).click();
};
const pageOf = (id: string) => `/console/organization/hosts/${id}`;

async function ownHost(ground: Ground) {
  const owner = asOwner(ground);
  const { host } = await owner.hosts.create({ name: crypto.randomUUID() });
  const all = async () => (await owner.hosts.list({ limit: 200 })).items;
  return { host, now: async () => (await all()).find(({ id }) => id === host.id) };
}

const WRITES: Write[] = [
  {
    name: 'create a host',
    asks: /^POST \/api\/hosts$/,
    field: '/name',
    async begin({ at, ground }) {
      const given = crypto.randomUUID();
      const { page } = await at('/console/organization/hosts');
      await press(page, 'New host');
      await name(page).fill(given);
      return {
        page,
        press: () => press(page, 'Add the host'),
        kept: () => name(page).inputValue(),
        done: async () =>
          (await asOwner(ground).hosts.list({ limit: 200 })).items.filter((one) => one.name === given).length,
      };
    },
  },
  {
    name: 'rename a host',
    asks: /^PATCH \/api\/hosts\/[^/]+$/,
    field: '/name',
    async begin({ at, ground }) {
      const { host, now } = await ownHost(ground);
      const { page } = await at(pageOf(host.id));
      await more(page, 'Rename');
      await name(page).fill(`${host.name} 2`);
      return {
        page,
        press: () => press(page, 'Rename the host'),
        kept: () => name(page).inputValue(),
        done: async () => ((await now())?.name === `${host.name} 2` ? 1 : 0),
      };
    },
  },
  {
    name: 'delete a host',
    asks: /^DELETE \/api\/hosts\/[^/]+$/,
    async begin({ at, ground }) {
      const { host, now } = await ownHost(ground);
      const { page } = await at(pageOf(host.id));
      await more(page, 'Delete');
      return {
        page,
        press: () => press(page, 'Delete the host'),
        done: async () => ((await now()) === undefined ? 1 : 0),
      };
    },
  },
];

const hostPage = ({ areas }: WholeGround) => pageOf(areas.hosts.id);

export const HOSTS: Area = {
  pages: [
    {
      name: 'hosts',
      path: () => '/console/organization/hosts',
      read: /^GET \/api\/hosts(\?|$)/,
      empty: 'service',
    },
    {
      name: 'host',
      path: hostPage,
      read: /^GET \/api\/hosts\/[^/?]+($|\?)/,
      unknown: ({ areas }) => pageOf(none(areas.hosts.id)),
    },
  ],
  scenes: [
    {
      name: 'host-new',
      path: () => '/console/organization/hosts',
      prepare: ({ page }) => page.keyboard.press('n'),
    },
    { name: 'host-token', path: hostPage, prepare: ({ page }) => more(page, 'New token') },
    { name: 'host-delete', path: hostPage, prepare: ({ page }) => more(page, 'Delete') },
  ],
  writes: WRITES,
};
