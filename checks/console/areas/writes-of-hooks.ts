/** The writes on the pages of webhooks, MCP servers and models. */
import type { Page } from 'playwright-core';
import type { Ground } from '../ground.ts';
import { putShared } from '../put-shared.ts';
import { startReceiver } from '../receiver.ts';
import { press } from '../writes.ts';
import type { Write } from '../writes.ts';

const field = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });
const pressIn = (page: Page, name: string) =>
  page.getByRole('dialog').getByRole('button', { name, exact: true }).click();
const count = (isDone: boolean) => (isDone ? 1 : 0);
const hookAt = (id: string) => `/console/organization/webhooks/${id}`;

async function more(page: Page, item: string): Promise<void> {
  await press(page, 'More');
  await page.getByRole('menuitem', { name: item, exact: true }).click();
}

/** A webhook of its own, and its page. */
async function hook({ client }: Ground, disabled = false) {
  const url = `https://${crypto.randomUUID()}.example.test/hook`;
  const { subscription } = await client.webhooks.create({ url, types: ['approval.*'], disabled });
  return { id: subscription.id, url, now: () => client.webhooks.get(subscription.id) };
}

/** Only a session may read it. */
async function defaultModel({ base, state }: Ground): Promise<string | null> {
  const cookie = state.cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
  const response = await fetch(`${base}/api/settings`, { headers: { cookie } });
  return ((await response.json()) as { settings: { modelId: string | null } }).settings.modelId;
}

const keysOf = async ({ client }: Ground) => (await client.modelKeys.list()).items;

export const WRITES_OF_HOOKS: Write[] = [
  {
    name: 'create a webhook',
    asks: /^POST \/api\/webhooks$/,
    field: '/url',
    isWhole: true,
    async begin({ at, ground: { client } }) {
      const url = `https://${crypto.randomUUID()}.example.test/hook`;
      const { page } = await at('/console/organization/webhooks');
      await press(page, 'New webhook');
      await field(page, 'URL').fill(url);
      return {
        page,
        press: () => press(page, 'Create'),
        kept: () => field(page, 'URL').inputValue(),
        done: async () =>
          (await client.webhooks.list({ limit: 200 })).items.filter((one) => one.url === url).length,
      };
    },
  },
  {
    name: 'change a webhook',
    asks: /^PATCH \/api\/webhooks\/[^/]+$/,
    field: '/url',
    async begin({ at, ground }) {
      const made = await hook(ground);
      const { page } = await at(hookAt(made.id));
      await more(page, 'Change');
      const url = `${made.url}/2`;
      await field(page, 'URL').fill(url);
      return {
        page,
        press: () => press(page, 'Save'),
        kept: () => field(page, 'URL').inputValue(),
        done: async () => count((await made.now()).url === url),
      };
    },
  },
  {
    name: 'pause a webhook',
    asks: /^PATCH \/api\/webhooks\/[^/]+$/,
    async begin({ at, ground }) {
      const made = await hook(ground);
      const { page } = await at(hookAt(made.id));
      return {
        page,
        press: () => press(page, 'Pause'),
        done: async () => count((await made.now()).disabled),
      };
    },
  },
  {
    name: 'make a new secret',
    asks: /^POST .*\/secret$/,
    async begin({ at, ground }) {
      const made = await hook(ground);
      const { page } = await at(hookAt(made.id));
      await more(page, 'New secret');
      return {
        page,
        press: () => press(page, 'Make a new secret'),
        done: async () => page.getByLabel('Secret', { exact: true }).count(),
      };
    },
  },
  {
    name: 'send a test',
    asks: /^POST .*\/test$/,
    async begin({ at, ground }) {
      const made = await hook(ground);
      const { page } = await at(hookAt(made.id));
      return {
        page,
        press: () => press(page, 'Send a test'),
        done: async () => (await ground.client.webhooks.deliveries(made.id)).items.length,
      };
    },
  },
  {
    name: 'redeliver',
    asks: /^POST .*\/redeliver$/,
    async begin({ at, ground }) {
      const { client } = ground;
      const receiver = await startReceiver();
      const { subscription } = await client.webhooks.create({ url: receiver.at(200), types: ['approval.*'] });
      const { id } = await client.webhooks.test(subscription.id);
      const { page } = await at(`${hookAt(subscription.id)}?delivery=${id}`);
      return {
        page,
        press: () => press(page, 'Redeliver'),
        done: async () => (await client.webhooks.deliveries(subscription.id)).items.length - 1,
      };
    },
  },
  {
    name: 'delete a webhook',
    asks: /^DELETE \/api\/webhooks\/[^/]+$/,
    async begin({ at, ground }) {
      const made = await hook(ground);
      const { page } = await at(hookAt(made.id));
      await more(page, 'Delete');
      const listed = async () => (await ground.client.webhooks.list({ limit: 200 })).items;
      return {
        page,
        press: () => pressIn(page, 'Delete the webhook'),
        done: async () => count(!(await listed()).some(({ id }) => id === made.id)),
      };
    },
  },
  {
    name: 'create an MCP server',
    asks: /^POST \/api\/mcp-servers$/,
    field: '/url',
    isWhole: true,
    async begin({ at, ground: { client } }) {
      const name = crypto.randomUUID();
      const { page } = await at('/console/organization/mcp-servers');
      await press(page, 'New server');
      await field(page, 'Name').fill(name);
      await field(page, 'URL').fill('https://mcp.example.test/');
      await press(page, 'Add a header');
      await field(page, 'Header 1').fill('Authorization');
      await page.getByLabel('Value 1').fill('Bearer 1');
      return {
        page,
        press: () => press(page, 'Create'),
        kept: async () => [
          await field(page, 'Name').inputValue(),
          await page.getByLabel('Value 1').inputValue(),
        ],
        done: async () =>
          (await client.mcpServers.list({ limit: 200 })).items.filter((one) => one.name === name).length,
      };
    },
  },
  {
    name: 'change an MCP server',
    asks: /^PATCH \/api\/mcp-servers\/[^/]+$/,
    field: '/name',
    async begin({ at, ground: { client } }) {
      const { id } = await client.mcpServers.create({ name: 'a', transport: 'stdio', command: 'true' });
      const { page } = await at(`/console/organization/mcp-servers?server=${id}`);
      await field(page, 'Name').fill('b');
      return {
        page,
        press: () => press(page, 'Save'),
        kept: () => field(page, 'Name').inputValue(),
        done: async () => count((await client.mcpServers.get(id)).name === 'b'),
      };
    },
  },
  {
    name: 'delete an MCP server',
    asks: /^DELETE \/api\/mcp-servers\/[^/]+$/,
    async begin({ at, ground: { client } }) {
      const name = crypto.randomUUID();
      const { id } = await client.mcpServers.create({ name, transport: 'stdio', command: 'true' });
      const { page } = await at('/console/organization/mcp-servers');
      await press(page, `Delete ${name}`);
      return {
        page,
        press: () => pressIn(page, 'Delete the server'),
        done: async () =>
          count(!(await client.mcpServers.list({ limit: 200 })).items.some((one) => one.id === id)),
      };
    },
  },
  {
    name: 'set a model key',
    asks: /^PUT \/api\/model-keys\/[^/]+$/,
    field: '/key',
    async begin({ at, ground }) {
      const provider = `p-${crypto.randomUUID().slice(0, 8)}`;
      const { page } = await at('/console/organization/models');
      await press(page, 'Set a key');
      await field(page, 'Provider').fill(provider);
      await page.getByLabel('Key', { exact: true }).fill('sk-of-the-test');
      return {
        page,
        press: () => press(page, 'Set the key'),
        kept: () => page.getByLabel('Key', { exact: true }).inputValue(),
        done: async () => (await keysOf(ground)).filter((one) => one.provider === provider).length,
      };
    },
  },
  {
    name: 'delete a model key',
    asks: /^DELETE \/api\/model-keys\/[^/]+$/,
    async begin({ at, ground }) {
      const provider = `p-${crypto.randomUUID().slice(0, 8)}`;
      await putShared(ground, `/api/model-keys/${provider}`, { key: 'sk-of-the-test' });
      const { page } = await at('/console/organization/models');
      await press(page, `Delete the key of ${provider}`);
      return {
        page,
        press: () => pressIn(page, 'Delete the key'),
        done: async () => count(!(await keysOf(ground)).some((one) => one.provider === provider)),
      };
    },
  },
  {
    name: 'change the default model',
    asks: /^PATCH \/api\/settings$/,
    field: '/modelId',
    async begin({ at, ground }) {
      // The same as none: what later writes run is not touched.
      const modelId = 'scripted';
      const { page } = await at('/console/organization/models');
      await press(page, 'Change the default');
      await page.getByRole('button', { name: /Model/ }).last().click();
      await page.getByRole('option', { name: 'Another one' }).click();
      await field(page, 'Its name').fill(modelId);
      return {
        page,
        press: () => press(page, 'Save'),
        kept: () => field(page, 'Its name').inputValue(),
        done: async () => count((await defaultModel(ground)) === modelId),
      };
    },
  },
];
