/** Every write of the pages of repositories. */
import type { Page } from 'playwright-core';
import { startGithubStandIn } from '../../../../packages/server/src/scm/github/stand-in.fixture.ts';
import type { GithubStandIn } from '../../../../packages/server/src/scm/github/stand-in.fixture.ts';
import type { Ground } from '../../ground.ts';
import { press } from '../../writes.ts';
import type { Write } from '../../writes.ts';
import { connectApp, makeRepository, pullOf, push, WEBHOOK_SECRET } from './ground.ts';

const LIST = '/console/organization/repositories';
const field = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });
const inDialog = (page: Page, name: string) =>
  page.getByRole('dialog').getByRole('button', { name, exact: true }).click();
const count = (isDone: boolean) => (isDone ? 1 : 0);

let standIn: Promise<GithubStandIn> | undefined;
/** One for all writes of a process, which ends it. */
const github = () =>
  (standIn ??= startGithubStandIn().then(async (started) => {
    await started.makeRepository({ name: 'shop' });
    return started;
  }));

let names = 0;
const nameOf = (what: string) => `${what}-${process.pid}-${++names}`;

const installed = async (ground: Ground) => connectApp(ground, await github(), nameOf('acme'));
const pathOf = ({ id }: { id: string }) => `/console/organization/installations/${id}`;

const ofInstallations: Write[] = [
  {
    name: 'connect GitHub',
    asks: /^POST .*\/installations$/,
    field: '/name',
    isWhole: true,
    async begin({ at, ground: { client } }) {
      const { baseUrl, token } = await github();
      const name = nameOf('made');
      const { page } = await at(LIST);
      await press(page, 'Connect GitHub');
      await page.getByText('A personal access token', { exact: true }).click();
      await page.getByText('GitHub Enterprise Server', { exact: true }).click();
      await field(page, 'Address of its API').fill(baseUrl);
      await field(page, 'Name').fill(name);
      await page.getByLabel('Token', { exact: true }).fill(token);
      return {
        page,
        press: () => inDialog(page, 'Try it and connect'),
        kept: () => page.getByLabel('Token', { exact: true }).inputValue(),
        done: async () => {
          const { items } = await client.scm.listInstallations({ limit: 200 });
          return items.filter((one) => one.name === name).length;
        },
      };
    },
  },
  {
    name: 'rename an installation',
    asks: /^PATCH .*\/installations\//,
    field: '/name',
    async begin({ at, ground }) {
      const made = await installed(ground);
      const { page } = await at(pathOf(made));
      await press(page, 'Rename');
      await field(page, 'Name').fill('Renamed');
      return {
        page,
        press: () => inDialog(page, 'Rename'),
        kept: () => field(page, 'Name').inputValue(),
        done: async () => count((await ground.client.scm.getInstallation(made.id)).name === 'Renamed'),
      };
    },
  },
  {
    name: 'give a new credential',
    asks: /^PATCH .*\/installations\//,
    field: '/token',
    async begin({ at, ground }) {
      const made = await installed(ground);
      const { page } = await at(pathOf(made));
      await press(page, 'New credential');
      await page.getByText('A personal access token', { exact: true }).click();
      await page.getByLabel('Token', { exact: true }).fill((await github()).token);
      return {
        page,
        press: () => inDialog(page, 'Try it and use it'),
        kept: () => page.getByLabel('Token', { exact: true }).inputValue(),
        done: async () => count((await ground.client.scm.getInstallation(made.id)).auth === 'token'),
      };
    },
  },
  {
    name: 'set a new webhook secret',
    asks: /^PATCH .*\/installations\//,
    async begin({ at, ground }) {
      const made = await installed(ground);
      const { page } = await at(pathOf(made));
      await press(page, 'New webhook secret');
      return {
        page,
        press: () => inDialog(page, 'Set a new secret'),
        // The one before it is refused then.
        async done() {
          const ping = { secret: WEBHOOK_SECRET, event: 'ping', payload: {} };
          return count((await (await github()).deliver(made.webhookUrl!, ping)).status === 401);
        },
      };
    },
  },
  {
    name: 'delete an installation',
    asks: /^DELETE .*\/installations\//,
    async begin({ at, ground }) {
      const made = await installed(ground);
      const { page } = await at(pathOf(made));
      await press(page, 'Delete');
      return {
        page,
        press: () => inDialog(page, 'Delete the installation'),
        done: async () => {
          const { items } = await ground.client.scm.listInstallations({ limit: 200 });
          return count(!items.some(({ id }) => id === made.id));
        },
      };
    },
  },
  {
    name: 'read the repositories again',
    asks: /^POST .*\/sync$/,
    async begin({ at, ground }) {
      const made = await installed(ground);
      const { page } = await at(pathOf(made));
      return {
        page,
        press: () => press(page, 'Read the repositories again'),
        done: async () =>
          count((await ground.client.scm.getInstallation(made.id)).syncedAt !== made.syncedAt),
      };
    },
  },
];

const ofRepositories: Write[] = [
  {
    name: 'create a repository',
    asks: /^POST .*\/scm\/repositories$/,
    field: '/name',
    isWhole: true,
    async begin({ at, ground: { client } }) {
      const name = nameOf('made');
      const { page } = await at(LIST);
      await press(page, 'New repository');
      await field(page, 'Name').fill(name);
      return {
        page,
        press: () => inDialog(page, 'Create the repository'),
        kept: () => field(page, 'Name').inputValue(),
        done: async () => (await client.scm.listRepositories({ query: name })).items.length,
      };
    },
  },
  {
    name: 'change a repository',
    asks: /^PATCH .*\/scm\/repositories\/[^/]+$/,
    field: '/defaultBranch',
    async begin({ at, ground }) {
      const { id } = await makeRepository(ground, nameOf('set'));
      const { page } = await at(`${LIST}/${id}?part=settings`);
      await field(page, 'Required checks').fill('ci');
      return {
        page,
        press: () => press(page, 'Save'),
        kept: () => field(page, 'Required checks').inputValue(),
        done: async () => (await ground.client.scm.getRepository(id)).requiredChecks.length,
      };
    },
  },
  {
    name: 'delete a repository',
    asks: /^DELETE .*\/scm\/repositories\//,
    async begin({ at, ground }) {
      const { id, name } = await makeRepository(ground, nameOf('gone'));
      const { page } = await at(`${LIST}/${id}?part=settings`);
      await press(page, 'Delete the repository');
      return {
        page,
        press: () => inDialog(page, 'Delete it for good'),
        done: async () => 1 - (await ground.client.scm.listRepositories({ query: name })).items.length,
      };
    },
  },
  {
    name: 'report a check',
    asks: /^POST .*\/statuses$/,
    field: '/context',
    async begin({ at, ground }) {
      const { id } = await makeRepository(ground, nameOf('checked'));
      const { commitSha } = await ground.client.scm.inspectRepository(id);
      const { page } = await at(`${LIST}/${id}`);
      await press(page, 'Report a check');
      await field(page, 'Check').fill('ci');
      return {
        page,
        press: () => inDialog(page, 'Report it'),
        kept: () => field(page, 'Check').inputValue(),
        done: async () => (await ground.client.scm.listStatuses(id, commitSha!)).items.length,
      };
    },
  },
];

const ofPulls: Write[] = [
  {
    name: 'open a pull request of a branch',
    asks: /^POST .*\/pull-requests$/,
    field: '/title',
    async begin({ at, ground }) {
      const repository = await makeRepository(ground, nameOf('pulled'));
      await push(ground, repository, { branch: 'fix-page', path: 'a.txt', content: 'a\n' });
      const { page } = await at(`${LIST}/${repository.id}?part=pull-requests`);
      await press(page, 'New pull request');
      await page.getByRole('combobox', { name: 'Branch with the changes' }).fill('fix-');
      await page.getByRole('option', { name: /^fix-page/ }).click();
      await field(page, 'Title').fill('Fix the page');
      return {
        page,
        press: () => inDialog(page, 'Open the pull request'),
        kept: () => field(page, 'Title').inputValue(),
        done: async () => (await ground.client.scm.listPullRequests(repository.id)).items.length,
      };
    },
  },
  {
    name: 'edit a pull request of a branch',
    asks: /^PATCH .*\/pull-requests\/\d+$/,
    field: '/title',
    async begin({ at, ground }) {
      const { repository, number } = await pullOf(ground, nameOf('edited'));
      const { page } = await at(`${LIST}/${repository.id}/pull-requests/${number}`);
      await press(page, 'Edit');
      await field(page, 'Title').fill('Fix all pages');
      return {
        page,
        press: () => inDialog(page, 'Save'),
        kept: () => field(page, 'Title').inputValue(),
        done: async () =>
          count((await ground.client.scm.getPullRequest(repository.id, number)).title === 'Fix all pages'),
      };
    },
  },
  {
    name: 'close a pull request of a branch',
    asks: /^PATCH .*\/pull-requests\/\d+$/,
    async begin({ at, ground }) {
      const { repository, number } = await pullOf(ground, nameOf('closed'));
      const { page } = await at(`${LIST}/${repository.id}/pull-requests/${number}`);
      await press(page, 'Close');
      return {
        page,
        press: () => inDialog(page, 'Close it'),
        done: async () =>
          count((await ground.client.scm.getPullRequest(repository.id, number)).state === 'closed'),
      };
    },
  },
  {
    name: 'make a pull request of a branch a draft',
    asks: /^PATCH .*\/pull-requests\/\d+$/,
    async begin({ at, ground }) {
      const { repository, number } = await pullOf(ground, nameOf('draft'));
      const { page } = await at(`${LIST}/${repository.id}/pull-requests/${number}`);
      return {
        page,
        press: () => press(page, 'Make it a draft'),
        done: async () => count((await ground.client.scm.getPullRequest(repository.id, number)).draft),
      };
    },
  },
  {
    name: 'merge a pull request of a branch',
    asks: /^POST .*\/pull-requests\/\d+\/merge$/,
    field: '/title',
    async begin({ at, ground }) {
      const { repository, number } = await pullOf(ground, nameOf('merged'));
      const { page } = await at(`${LIST}/${repository.id}/pull-requests/${number}`);
      await press(page, 'Merge');
      await field(page, 'First line of the commit').fill('The page is fixed');
      return {
        page,
        press: () => inDialog(page, 'Merge it'),
        kept: () => field(page, 'First line of the commit').inputValue(),
        done: async () =>
          count((await ground.client.scm.getPullRequest(repository.id, number)).state === 'merged'),
      };
    },
  },
  {
    name: 'comment on a pull request of a branch',
    asks: /^POST .*\/comments$/,
    field: '/body',
    async begin({ at, ground }) {
      const { repository, number } = await pullOf(ground, nameOf('said'));
      const { page } = await at(`${LIST}/${repository.id}/pull-requests/${number}`);
      await field(page, 'New comment').fill('Is it tested?');
      return {
        page,
        press: () => press(page, 'Comment'),
        kept: () => field(page, 'New comment').inputValue(),
        done: async () => (await ground.client.scm.listComments(repository.id, number)).items.length,
      };
    },
  },
  {
    name: 'resolve a review thread',
    asks: /^PATCH .*\/comments\//,
    async begin({ at, ground }) {
      const { repository, number } = await pullOf(ground, nameOf('solved'));
      const comments = () => ground.client.scm.listComments(repository.id, number);
      await ground.client.scm.createComment(repository.id, number, { body: 'Is it tested?' });
      const { page } = await at(`${LIST}/${repository.id}/pull-requests/${number}`);
      return {
        page,
        press: () => press(page, 'Resolve'),
        done: async () => (await comments()).items.filter(({ resolved }) => resolved).length,
      };
    },
  },
];

export const REPOSITORY_WRITES: Write[] = [...ofInstallations, ...ofRepositories, ...ofPulls];
