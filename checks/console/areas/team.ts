/** The pages of the team, keys, audit and usage. */
import type { WholeGround } from '../ground.ts';
import { none } from '../scene.ts';
import { press } from '../writes.ts';
import type { Area } from './area.ts';
import { KIM } from './team/ground.ts';
import { WRITES_OF_TEAM } from './team/writes.ts';

export { teamGround } from './team/ground.ts';

const accountPage = ({ areas }: WholeGround) => `/console/organization/keys/${areas.team.accountId}`;
export const TEAM: Area = {
  pages: [
    { name: 'team', path: () => '/console/organization/team', read: /^GET \/api\/members/ },
    {
      name: 'service-accounts',
      path: () => '/console/organization/keys',
      read: /^GET \/api\/service-accounts\?/,
    },
    {
      name: 'service-account',
      path: accountPage,
      read: /^GET \/api\/service-accounts\/[^/?]+$/,
      unknown: ({ areas }) => `/console/organization/keys/${none(areas.team.accountId)}`,
    },
    { name: 'audit', path: () => '/console/organization/audit', read: /^GET \/api\/audit/ },
    {
      name: 'usage',
      path: () => '/console/organization/usage',
      read: /^GET \/api\/usage/,
      empty: 'service',
    },
  ],
  scenes: [
    {
      name: 'team-invite',
      path: () => '/console/organization/team',
      prepare: ({ page }) => page.keyboard.press('n'),
    },
    {
      name: 'team-role',
      path: () => '/console/organization/team',
      prepare: ({ page }) => press(page, `Change the role of ${KIM.email}`),
    },
    {
      name: 'team-delete',
      path: () => '/console/organization/team',
      prepare: ({ page }) => press(page, 'Delete the organization'),
    },
    {
      name: 'service-accounts-new',
      path: () => '/console/organization/keys',
      prepare: async ({ page }) => {
        await page.keyboard.press('n');
        await press(page, 'Platform backend');
        await page.getByText('Only chosen ones').click();
        await page.getByRole('list', { name: 'Apps and projects' }).waitFor();
      },
    },
    {
      name: 'service-account-rotate',
      path: accountPage,
      prepare: ({ page }) => press(page, 'New key'),
    },
    {
      name: 'audit-narrow',
      path: () => '/console/organization/audit?query=credential',
    },
    { name: 'usage-thread', path: () => '/console/organization/usage?groupBy=thread' },
    {
      name: 'usage-limits',
      path: () => '/console/organization/usage',
      prepare: ({ page }) => press(page, 'Change the limits'),
    },
  ],
  writes: WRITES_OF_TEAM,
};
