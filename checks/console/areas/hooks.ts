/** The pages of webhooks, MCP servers and models. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, Delivery } from '@headrace/client';
import type { Site, WholeGround } from '../ground.ts';
import type { Visit } from '../browser.ts';
import { putShared } from '../put-shared.ts';
import { startReceiver } from '../receiver.ts';
import { none } from '../scene.ts';
import type { Area } from './area.ts';
import { WRITES_OF_HOOKS } from './writes-of-hooks.ts';

const LIMIT_MS = 20_000;
const POLL_MS = 50;

/** Reads the newest delivery until it is as wanted. */
export async function untilDelivery(
  client: Client,
  webhookId: string,
  isDone: (delivery: Delivery) => boolean,
): Promise<Delivery> {
  let last: Delivery | undefined;
  for (const deadline = Date.now() + LIMIT_MS; Date.now() < deadline; await sleep(POLL_MS)) {
    last = (await client.webhooks.deliveries(webhookId, { limit: 1 })).items[0];
    if (last && isDone(last)) return last;
  }
  throw new Error(`The delivery is ${JSON.stringify(last)}`);
}

/** What they show. */
export async function hooksGround(site: Site) {
  const { client } = site;
  const receiver = await startReceiver();
  const project = await client.projects.create({ name: 'Garden' });
  const hook = async (status: number, types: Parameters<Client['webhooks']['create']>[0]['types']) => {
    const { subscription } = await client.webhooks.create({ url: receiver.at(status), types });
    await client.webhooks.test(subscription.id);
    const delivery = await untilDelivery(client, subscription.id, ({ attemptCount }) => attemptCount > 0);
    return { id: subscription.id, delivery };
  };
  const [good, failing] = await Promise.all([
    hook(200, ['run.*', 'thread.updated', 'pull_request.updated']),
    hook(500, ['automation.execution.*']),
    hook(410, ['preview.*']),
    client.webhooks.create({
      url: 'https://hooks.example.test/headrace',
      types: ['*'],
      projectId: project.id,
      disabled: true,
    }),
  ]);
  await client.mcpServers.create({
    name: 'notes',
    transport: 'stdio',
    command: 'node tools/notes-mcp.mjs --folder notes',
    env: { NOTES_FILE: 'notes.md' },
    projectIds: [project.id],
  });
  const server = await client.mcpServers.create({
    name: 'tickets',
    transport: 'http',
    url: 'https://mcp.example.test/v1',
    headers: { Authorization: 'Bearer of the tickets', 'X-Team': 'checkout' },
  });
  await putShared(site, '/api/model-keys/anthropic', { key: 'sk-ant-of-the-ground' });
  return { good, failing, server };
}

const at = ({ areas: { hooks } }: WholeGround, which: 'good' | 'failing') =>
  `/console/organization/webhooks/${hooks[which].id}`;

const open = (button: string) => async (visit: Visit) => {
  await visit.page.getByRole('button', { name: button, exact: true }).first().click();
  await visit.page.getByRole('dialog').waitFor();
};

const more = (item: string) => async (visit: Visit) => {
  await visit.page.getByRole('button', { name: 'More', exact: true }).click();
  await visit.page.getByRole('menuitem', { name: item, exact: true }).click();
  await visit.page.getByRole('dialog').waitFor();
};

export const HOOKS: Area = {
  pages: [
    {
      name: 'webhooks',
      path: () => '/console/organization/webhooks',
      read: /^GET \/api\/webhooks(\?|$)/,
      empty: 'service',
    },
    {
      name: 'webhook',
      path: (ground) => at(ground, 'good'),
      read: /^GET \/api\/webhooks\/wh_[^/?]+($|\?)/,
      unknown: ({ areas: { hooks } }) => `/console/organization/webhooks/${none(hooks.good.id)}`,
    },
    {
      name: 'mcp-servers',
      path: () => '/console/organization/mcp-servers',
      read: /^GET \/api\/mcp-servers(\?|$)/,
      empty: 'service',
    },
    { name: 'models', path: () => '/console/organization/models', read: /^GET \/api\/model(s|-keys)(\?|$)/ },
  ],
  scenes: [
    {
      name: 'webhook-delivery',
      path: (ground) => `${at(ground, 'failing')}?delivery=${ground.areas.hooks.failing.delivery.id}`,
    },
    {
      name: 'webhook-new',
      path: () => '/console/organization/webhooks',
      async prepare(visit) {
        await open('New webhook')(visit);
        await visit.page.locator('label').filter({ hasText: 'Only these' }).click();
      },
    },
    { name: 'webhook-new-secret', path: (ground) => at(ground, 'good'), prepare: more('New secret') },
    {
      name: 'webhook-secret',
      path: (ground) => at(ground, 'good'),
      async prepare(visit) {
        await more('New secret')(visit);
        await open('Make a new secret')(visit);
        await visit.page.getByLabel('Secret', { exact: true }).waitFor();
      },
    },
    { name: 'webhook-delete', path: (ground) => at(ground, 'good'), prepare: more('Delete') },
    { name: 'mcp-server-new', path: () => '/console/organization/mcp-servers', prepare: open('New server') },
    {
      name: 'mcp-server-change',
      path: ({ areas: { hooks } }) => `/console/organization/mcp-servers?server=${hooks.server.id}`,
      async prepare(visit) {
        await open('Replace or remove them')(visit);
      },
    },
    { name: 'model-key', path: () => '/console/organization/models', prepare: open('Set a key') },
    {
      name: 'model-default',
      path: () => '/console/organization/models',
      prepare: open('Change the default'),
    },
  ],
  writes: WRITES_OF_HOOKS,
};
