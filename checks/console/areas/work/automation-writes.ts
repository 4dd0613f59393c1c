/** The writes on the pages of automations. */
import type { CreateAutomationInput } from '@headrace/client';
import type { Page } from 'playwright-core';
import type { Site } from '../../ground.ts';
import { press } from '../../writes.ts';
import type { Area } from '../area.ts';

const field = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });

const YEARLY: CreateAutomationInput['trigger'] = { kind: 'schedule', cron: '@yearly', timeZone: 'UTC' };

/** In a project of its own. */
async function automationOf({ client }: Site, given: Partial<CreateAutomationInput> = {}) {
  const { id: projectId } = await client.projects.create({ name: 'Orchard' });
  const body = { projectId, name: 'Pick the pears', prompt: 'Pick them.', trigger: YEARLY, ...given };
  return (await client.automations.create(body)).automation;
}

async function more(page: Page, item: string): Promise<void> {
  await press(page, 'More about this automation');
  await page.getByRole('menuitem', { name: item, exact: true }).click();
}

export const WRITES_OF_AUTOMATIONS: Area['writes'] = [
  {
    name: 'create an automation',
    asks: /^POST \/api\/automations$/,
    field: '/trigger/cron',
    isWhole: true,
    async begin({ at, ground: { client } }) {
      const { id: projectId } = await client.projects.create({ name: 'Meadow' });
      const { page } = await at(`/console/automations?projectId=${projectId}`);
      await press(page, 'New automation');
      await field(page, 'Name').fill('Mow');
      await field(page, 'Prompt').fill('Mow the meadow.');
      await page.getByRole('list', { name: 'Next times' }).waitFor();
      return {
        page,
        press: () => press(page, 'Create'),
        kept: () => field(page, 'Prompt').inputValue(),
        done: async () => (await client.automations.list({ projectId })).items.length,
      };
    },
  },
  {
    name: 'change an automation',
    asks: /^PATCH \/api\/automations\//,
    field: '/prompt',
    async begin({ at, ground }) {
      const { id } = await automationOf(ground);
      const { page } = await at(`/console/automations/${id}`);
      await press(page, 'Change');
      await field(page, 'Prompt').fill('Pick the ripe ones.');
      return {
        page,
        press: () => press(page, 'Save'),
        kept: () => field(page, 'Prompt').inputValue(),
        done: async () =>
          (await ground.client.automations.get(id)).prompt === 'Pick the ripe ones.' ? 1 : 0,
      };
    },
  },
  {
    name: 'disable an automation',
    asks: /^PATCH \/api\/automations\//,
    async begin({ at, ground }) {
      const { id } = await automationOf(ground);
      const { page } = await at(`/console/automations/${id}`);
      await more(page, 'Disable');
      return {
        page,
        press: () => press(page, 'Disable it'),
        done: async () => ((await ground.client.automations.get(id)).disabled ? 1 : 0),
      };
    },
  },
  {
    name: 'enable an automation',
    asks: /^PATCH \/api\/automations\//,
    async begin({ at, ground }) {
      const { id } = await automationOf(ground, { disabled: true });
      const { page } = await at(`/console/automations/${id}`);
      return {
        page,
        press: () => press(page, 'Enable'),
        done: async () => ((await ground.client.automations.get(id)).disabled ? 0 : 1),
      };
    },
  },
  {
    name: 'run an automation',
    asks: /^POST .*\/run$/,
    field: '/payload',
    async begin({ at, ground }) {
      const { id } = await automationOf(ground);
      const { page } = await at(`/console/automations/${id}`);
      await press(page, 'Run now');
      await field(page, 'Payload').fill('{"row": 3}');
      return {
        page,
        press: () => press(page, 'Run it'),
        kept: () => field(page, 'Payload').inputValue(),
        done: async () => (await ground.client.automations.executions(id)).items.length,
      };
    },
  },
  {
    name: 'replace the secret of a hook',
    asks: /^POST .*\/secret$/,
    field: '/overlapSeconds',
    async begin({ at, ground }) {
      const { id, updatedAt } = await automationOf(ground, { trigger: { kind: 'webhook' } });
      const { page } = await at(`/console/automations/${id}`);
      await more(page, 'Replace the secret');
      const overlap = field(page, 'The present secret stays valid for, in seconds');
      await overlap.fill('60');
      return {
        page,
        press: () => press(page, 'Replace the secret'),
        kept: () => overlap.inputValue(),
        done: async () => ((await ground.client.automations.get(id)).updatedAt === updatedAt ? 0 : 1),
      };
    },
  },
  {
    name: 'delete an automation',
    asks: /^DELETE \/api\/automations\//,
    async begin({ at, ground: { client }, ground }) {
      const { id, projectId } = await automationOf(ground);
      const { page } = await at(`/console/automations/${id}`);
      await more(page, 'Delete');
      return {
        page,
        press: () => press(page, 'Delete the automation'),
        done: async () => 1 - (await client.automations.list({ projectId })).items.length,
      };
    },
  },
];
