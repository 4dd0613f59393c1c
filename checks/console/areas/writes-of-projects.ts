/** The writes on pages of projects and of the organization's settings. */
import type { Page } from 'playwright-core';
import { choose, press } from '../writes.ts';
import type { Bench, Write } from '../writes.ts';
import { threadOf } from './make-project.ts';

const field = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });
const count = (isDone: boolean) => (isDone ? 1 : 0);

export const WRITES_OF_PROJECTS: Write[] = [
  {
    name: 'create a project',
    asks: /^POST \/api\/projects$/,
    field: '/name',
    async begin({ at, ground: { client } }) {
      const { page } = await at('/console/projects');
      await press(page, 'Create a project');
      await field(page, 'Name').fill('Made by hand');
      return {
        page,
        press: () => press(page, 'Create'),
        kept: () => field(page, 'Name').inputValue(),
        done: async () =>
          (await client.projects.list({ kind: 'direct', query: 'Made by hand' })).items.length,
      };
    },
  },
  {
    name: 'save a project',
    asks: /^PATCH \/api\/projects\/[^/]+$/,
    field: '/name',
    async begin({ at, ground: { client } }) {
      const project = await client.projects.create({ name: 'Before' });
      const { page } = await at(`/console/apps/${project.id}/settings`);
      await field(page, 'Name').first().fill('After');
      return {
        page,
        press: () => press(page, 'Save the project'),
        kept: () => field(page, 'Name').first().inputValue(),
        done: async () => count((await client.projects.get(project.id)).name === 'After'),
      };
    },
  },
  {
    name: 'delete a project',
    asks: /^DELETE \/api\/projects\/[^/]+$/,
    async begin({ at, ground: { client } }) {
      const project = await client.projects.create({ name: 'Doomed' });
      const { page } = await at(`/console/apps/${project.id}/settings`);
      await press(page, 'Delete the project');
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('textbox').fill('Doomed');
      return {
        page,
        press: () => dialog.getByRole('button', { name: 'Delete the project' }).click(),
        kept: () => dialog.getByRole('textbox').inputValue(),
        done: async () => {
          const { items } = await client.projects.list({ kind: 'direct' });
          return count(!items.some(({ id }) => id === project.id));
        },
      };
    },
  },
  {
    name: 'start a thread of a project',
    asks: /^POST \/api\/threads$/,
    field: '/trackerIssueUrl',
    async begin({ at, ground: { client } }) {
      const project = await client.projects.create({ name: 'With threads' });
      const { page } = await at(`/console/apps/${project.id}`);
      await press(page, 'New thread');
      await field(page, 'First message').fill('Begin.');
      await page.locator('summary').click();
      await field(page, 'Issue in a tracker').fill('https://tracker.example.test/A-1');
      return {
        page,
        press: () => press(page, 'Start'),
        kept: () => field(page, 'Issue in a tracker').inputValue(),
        done: async () => (await client.threads.listDirect({ projectId: project.id })).items.length,
      };
    },
  },
  {
    name: 'save the limits of the organization',
    asks: /^PATCH \/api\/settings$/,
    field: '/concurrency/builds',
    async begin(bench) {
      const { page } = await bench.at('/console/organization/settings');
      await field(page, 'Builds').fill('997');
      return {
        page,
        press: () => press(page, 'Save'),
        kept: () => field(page, 'Builds').inputValue(),
        done: async () => count((await settingsOf(bench)).includes('997')),
      };
    },
  },
  {
    name: 'keep a workspace',
    asks: /^POST .*\/workspace\/activity$/,
    field: '/idleTimeoutMinutes',
    async begin({ at, ground: { client } }) {
      const project = await client.projects.create({ name: 'Kept' });
      const thread = await threadOf(client, project, { title: 'Kept' });
      const { page } = await at(`/console/apps/${project.id}/threads/${thread.id}`);
      await choose(page, 'Workspace');
      await field(page, 'Keep it, in minutes').fill('59');
      return {
        page,
        press: () => press(page, 'Keep it from now'),
        kept: () => field(page, 'Keep it, in minutes').inputValue(),
        done: async () => {
          const { policy } = await client.thread(thread.id).workspaces.policy();
          return count(policy?.idleTimeoutMinutes === 59);
        },
      };
    },
  },
];

async function settingsOf({ ground: { base, state } }: Bench): Promise<string> {
  const cookie = state.cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
  return (await fetch(`${base}/api/settings`, { headers: { cookie } })).text();
}
