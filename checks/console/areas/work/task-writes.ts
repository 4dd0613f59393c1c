/** The writes on the pages of tasks. */
import type { Page } from 'playwright-core';
import type { Site } from '../../ground.ts';
import { press } from '../../writes.ts';
import type { Area } from '../area.ts';

const field = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });
const ISSUE = 'https://github.com/acme/garden/issues/12';

/** A task in a project of its own. */
async function taskOf({ client }: Site) {
  const { id: projectId } = await client.projects.create({ name: 'Orchard' });
  return await client.tasks.create({ projectId, title: 'Plant a pear tree' });
}

export const WRITES_OF_TASKS: Area['writes'] = [
  {
    name: 'create a task',
    asks: /^POST \/api\/tasks$/,
    field: '/title',
    async begin({ at, ground: { client } }) {
      const { id: projectId } = await client.projects.create({ name: 'Meadow' });
      const { page } = await at(`/console/tasks?projectId=${projectId}`);
      await press(page, 'New task');
      await field(page, 'Title').fill('Mow it');
      await field(page, 'Issue').fill(ISSUE);
      return {
        page,
        press: () => press(page, 'Create'),
        kept: () => field(page, 'Title').inputValue(),
        done: async () => (await client.tasks.list({ projectId })).items.length,
      };
    },
  },
  {
    name: 'rename a task',
    asks: /^PATCH \/api\/tasks\//,
    field: '/title',
    async begin({ at, ground }) {
      const { id } = await taskOf(ground);
      const { page } = await at(`/console/tasks/${id}`);
      await press(page, 'More about this task');
      await page.getByRole('menuitem', { name: 'Rename' }).click();
      await field(page, 'Title').fill('Plant two pear trees');
      return {
        page,
        press: () => press(page, 'Save'),
        kept: () => field(page, 'Title').inputValue(),
        done: async () => ((await ground.client.tasks.get(id)).title === 'Plant two pear trees' ? 1 : 0),
      };
    },
  },
  {
    name: 'set the status of a task on the board',
    asks: /^PATCH \/api\/tasks\//,
    async begin({ at, ground }) {
      const { id, projectId } = await taskOf(ground);
      const { page } = await at(`/console/tasks?projectId=${projectId}`);
      return {
        page,
        async press() {
          await press(page, 'Set the status of T-1');
          await page.getByRole('menuitem', { name: 'Set status done' }).click();
        },
        done: async () => ((await ground.client.tasks.get(id)).status === 'done' ? 1 : 0),
      };
    },
  },
  {
    name: 'set the status of a task on its page',
    asks: /^PATCH \/api\/tasks\//,
    async begin({ at, ground }) {
      const { id } = await taskOf(ground);
      const { page } = await at(`/console/tasks/${id}`);
      return {
        page,
        async press() {
          await press(page, 'Set status');
          await page.getByRole('menuitem', { name: 'Set status cancelled' }).click();
        },
        done: async () => ((await ground.client.tasks.get(id)).status === 'cancelled' ? 1 : 0),
      };
    },
  },
  {
    name: 'delete a task',
    asks: /^DELETE \/api\/tasks\//,
    async begin({ at, ground: { client }, ground }) {
      const { id, projectId } = await taskOf(ground);
      const { page } = await at(`/console/tasks/${id}`);
      await press(page, 'More about this task');
      await page.getByRole('menuitem', { name: 'Delete' }).click();
      return {
        page,
        press: () => press(page, 'Delete the task'),
        done: async () => 1 - (await client.tasks.list({ projectId })).items.length,
      };
    },
  },
  {
    name: 'start a thread for a task',
    asks: /^POST \/api\/threads$/,
    field: '/message/content',
    async begin({ at, ground: { client }, ground }) {
      const { id } = await taskOf(ground);
      const { page } = await at(`/console/tasks/${id}`);
      await press(page, 'Start a thread');
      await field(page, 'First message').fill('Dig the hole.');
      return {
        page,
        press: () => press(page, 'Start'),
        kept: () => field(page, 'First message').inputValue(),
        done: async () => (await client.threads.listDirect({ taskId: id })).items.length,
      };
    },
  },
];
