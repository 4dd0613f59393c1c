/** The pages of installations, repositories and their review side. */
import type { Site, WholeGround } from '../ground.ts';
import { none } from '../scene.ts';
import { press } from '../writes.ts';
import type { Area } from './area.ts';
import { makeRepositories } from './repositories/ground.ts';
import { REPOSITORY_WRITES } from './repositories/writes.ts';

const LIST = '/console/organization/repositories';
const INSTALLATION = '/console/organization/installations';

/** What they show. */
export const repositoriesGround = (site: Site) => makeRepositories(site);

const made = ({ areas }: WholeGround) => areas.repositories;
const hosted = (ground: WholeGround) => `${LIST}/${made(ground).hosted.id}`;
const missing = (ground: WholeGround) => `${LIST}/${none(made(ground).hosted.id)}`;

export const REPOSITORIES: Area = {
  pages: [
    {
      name: 'repositories',
      path: () => LIST,
      read: /^GET \/api\/source-control\/scm\/repositories(\?|$)/,
      empty: 'service',
    },
    {
      name: 'installation',
      path: (ground) => `${INSTALLATION}/${made(ground).app.id}`,
      read: /^GET .*\/installations\/ins_[^/]+$/,
      unknown: (ground) => `${INSTALLATION}/${none(made(ground).app.id)}`,
    },
    {
      name: 'repository',
      path: hosted,
      read: /^GET .*\/scm\/repositories\/repo_[^/]+$/,
      unknown: missing,
    },
    {
      name: 'repository-branches',
      path: (ground) => `${hosted(ground)}?part=branches`,
      read: /\/branches(\?|$)/,
    },
    {
      name: 'repository-pull-requests',
      path: (ground) => `${hosted(ground)}?part=pull-requests`,
      read: /\/pull-requests(\?|$)/,
    },
    {
      name: 'repository-settings',
      path: (ground) => `${hosted(ground)}?part=settings`,
      read: /^GET .*\/scm\/repositories\/repo_[^/]+$/,
    },
    {
      name: 'review',
      path: (ground) => `${hosted(ground)}/pull-requests/${made(ground).pull}`,
      read: /\/pull-requests\/\d+$/,
      unknown: (ground) => `${hosted(ground)}/pull-requests/4711`,
    },
  ],
  scenes: [
    { name: 'connect-app', path: () => LIST, prepare: ({ page }) => press(page, 'Connect GitHub') },
    {
      name: 'connect-token',
      path: () => LIST,
      async prepare({ page }) {
        await press(page, 'Connect GitHub');
        await page.getByText('A personal access token', { exact: true }).click();
      },
    },
    { name: 'new-repository', path: () => LIST, prepare: ({ page }) => press(page, 'New repository') },
    { name: 'installation-in-error', path: (ground) => `${INSTALLATION}/${made(ground).broken.id}` },
    {
      name: 'new-credential',
      path: (ground) => `${INSTALLATION}/${made(ground).broken.id}`,
      prepare: ({ page }) => press(page, 'New credential'),
    },
    { name: 'repository-empty', path: (ground) => `${LIST}/${made(ground).empty.id}` },
    {
      name: 'new-pull-request',
      path: (ground) => `${hosted(ground)}?part=pull-requests`,
      prepare: ({ page }) => press(page, 'New pull request'),
    },
    {
      name: 'repository-at-github',
      path: (ground) => `${LIST}/${made(ground).github.id}?part=pull-requests`,
    },
    {
      name: 'review-conflicting',
      path: (ground) => `${hosted(ground)}/pull-requests/${made(ground).conflicting}`,
    },
    {
      name: 'report-a-check',
      path: (ground) => `${hosted(ground)}/pull-requests/${made(ground).pull}`,
      prepare: ({ page }) => press(page, 'Report a check'),
    },
    {
      name: 'merge',
      path: (ground) => `${hosted(ground)}/pull-requests/${made(ground).pull}`,
      prepare: ({ page }) => press(page, 'Merge'),
    },
  ],
  writes: REPOSITORY_WRITES,
};
