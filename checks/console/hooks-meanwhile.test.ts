/** Webhooks and MCP servers while others change them, while a write is under way, and where the focus goes. */
import { afterAll, beforeAll, expect } from 'vitest';
import type { Page } from 'playwright-core';
import { untilDelivery } from './areas/hooks.ts';
import type { Site } from './ground.ts';
import { visitAt } from './page.ts';
import { startReceiver } from './receiver.ts';
import type { Receiver } from './receiver.ts';
import { browserTest, sharedSite, useBrowser } from './rig.ts';

const rig = useBrowser();
let site: Site;
let receiver: Receiver;
beforeAll(async () => {
  site = sharedSite();
  receiver = await startReceiver();
});
afterAll(() => receiver?.close());

const at = async (path: string) =>
  (await visitAt(rig, `/console/organization/${path}`, { base: site.base, state: site.state })).page;
const field = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).first().click();
const closed = (page: Page) => page.getByRole('dialog').waitFor({ state: 'detached' });
const more = async (page: Page, item: string) => {
  await press(page, 'More');
  await page.getByRole('menuitem', { name: item, exact: true }).click();
};
/** As when the window is looked at again. */
const lookAgain = (page: Page) => page.evaluate(`window.dispatchEvent(new Event('visibilitychange'))`);
const focused = (page: Page) =>
  page.evaluate<string>(
    `document.activeElement.getAttribute('aria-label') ?? document.activeElement.innerText`,
  );
const hook = async (status = 200) =>
  (await site.client.webhooks.create({ url: receiver.at(status), types: ['approval.*'] })).subscription;

/** Holds the writes of a path until they are let go. */
async function held(page: Page, path: RegExp, method: string): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(path, async (route) => {
    if (route.request().method() === method) await promise;
    await route.continue();
  });
  return resolve;
}

/** Once the write is under way, Escape does not close the dialog. */
async function heldFast(page: Page): Promise<void> {
  const cancel = page.getByRole('button', { name: 'Cancel', exact: true });
  await expect.poll(() => cancel.isDisabled()).toBe(true);
  await page.keyboard.press('Escape');
  expect(await cancel.isDisabled()).toBe(true);
}

browserTest('a secret that is being made keeps its dialog open', async () => {
  const { id } = await hook();
  const page = await at(`webhooks/${id}`);
  const letGo = await held(page, /\/secret$/, 'POST');
  await more(page, 'New secret');
  const asked = page.waitForRequest(/\/secret$/);
  await press(page, 'Make a new secret');
  await asked;
  await heldFast(page);
  letGo();
  expect(await page.getByLabel('Secret', { exact: true }).inputValue()).toMatch(/^whsec_/);
  await press(page, 'I have saved it');
  await closed(page);
});

browserTest('so does a webhook that is being made', async () => {
  const page = await at('webhooks');
  const letGo = await held(page, /\/api\/webhooks$/, 'POST');
  await press(page, 'New webhook');
  await field(page, 'URL').fill(receiver.at(200));
  const asked = page.waitForRequest((request) => request.method() === 'POST');
  await press(page, 'Create');
  await asked;
  await heldFast(page);
  letGo();
  expect(await page.getByLabel('Secret', { exact: true }).inputValue()).toMatch(/^whsec_/);
  await press(page, 'I have saved it');
  await page.getByRole('heading', { name: /^Webhook wh_/ }).waitFor();
});

browserTest('a change that ends after its dialog was closed leaves the next dialog open', async () => {
  const { id } = await hook();
  const page = await at(`webhooks/${id}`);
  const letGo = await held(page, /\/api\/webhooks\/wh_/, 'PATCH');
  await more(page, 'Change');
  await field(page, 'URL').fill(receiver.at(200, 500));
  const asked = page.waitForRequest((request) => request.method() === 'PATCH');
  await press(page, 'Save');
  await asked;
  await page.keyboard.press('Escape');
  await closed(page);
  await more(page, 'Delete');
  letGo();
  await page.getByText(/^Saved\. A new URL holds/).waitFor();
  expect(await page.getByRole('dialog', { name: 'Delete the webhook' }).count()).toBe(1);
});

browserTest('what others change while a form is open stays, and what is typed, too', async () => {
  const { client } = site;
  const { id } = await hook();
  const page = await at(`webhooks/${id}`);
  await more(page, 'Change');
  await client.webhooks.update(id, { types: ['run.*'] });
  const read = page.waitForResponse((response) => response.url().endsWith(id));
  await lookAgain(page);
  await read;
  await field(page, 'URL').fill(receiver.at(200, 200));
  const asked = page.waitForRequest((request) => request.method() === 'PATCH');
  await press(page, 'Save');
  expect((await asked).postDataJSON()).toEqual({ url: receiver.at(200, 200) });
  await closed(page);
  expect(await client.webhooks.get(id)).toMatchObject({ types: ['run.*'] });
  // What was typed is for the webhook as it was: of another one, it is dropped.
  await more(page, 'Change');
  await field(page, 'URL').fill('https://typed.example.test/');
  await client.webhooks.update(id, { types: ['preview.*'] });
  await page.reload();
  await more(page, 'Change');
  expect(await field(page, 'URL').inputValue()).toBe(receiver.at(200, 200));
});

browserTest(
  'a delivery that others cause appears, and the focus goes to the one that is sent again',
  async () => {
    const { client } = site;
    const { id } = await hook();
    const page = await at(`webhooks/${id}`);
    await page.getByText('No deliveries yet').waitFor();
    await client.webhooks.test(id);
    await untilDelivery(client, id, ({ status }) => status === 'succeeded');
    await lookAgain(page);
    await page.getByRole('list', { name: 'Deliveries' }).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Redeliver', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('sent again').waitFor();
    await expect.poll(() => focused(page)).toMatch(/webhook\.ping[\s\S]*sent again/);
    await page.getByRole('link', { name: 'the former delivery' }).focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => focused(page)).toMatch(/webhook\.ping(?![\s\S]*sent again)/);
  },
);

browserTest('an MCP server moves to another origin without the headers of the first', async () => {
  const { client } = site;
  const { id, name } = await client.mcpServers.create({
    name: `moved ${crypto.randomUUID().slice(0, 8)}`,
    transport: 'http',
    url: 'https://mcp.example.test/v1',
    headers: { Authorization: 'Bearer 1', 'X-Team': 'checkout' },
  });
  const page = await at(`mcp-servers?server=${id}`);
  await press(page, 'Replace or remove them');
  await page.getByRole('button', { name: 'Remove authorization' }).focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => focused(page)).toBe('Remove x-team');
  await page.keyboard.press('Enter');
  await expect.poll(() => focused(page)).toBe('Add a header');
  await press(page, 'Show as curl, TypeScript and command line');
  const samples = page.getByRole('dialog', { name: 'The same by code' });
  expect(await samples.getByLabel('Command line', { exact: true }).innerText()).toBe(
    `echo '{"headers":{}}' | headrace mcp-servers update ${id} --input -`,
  );
  await page.keyboard.press('Escape');
  await press(page, 'Keep those that are set');
  await field(page, 'URL').fill('https://other.example.test/');
  await page.getByText(/given for another place/).waitFor();
  await press(page, 'Save');
  await closed(page);
  const stored = (await client.mcpServers.list({ limit: 200 })).items.find((server) => server.name === name);
  expect(stored).toMatchObject({ url: 'https://other.example.test/', headers: [] });
  await client.mcpServers.delete(id);
});

browserTest('projects beyond the first page can be chosen', async () => {
  const page = await at('mcp-servers');
  const first = await site.client.projects.create({ name: 'Of the first page' });
  const second = { ...first, id: 'prj_000000000000000000000002', name: 'Of the second page' };
  await page.route(/\/api\/projects\?/, (route) => {
    const hasMore = !route.request().url().includes('cursor=');
    const json = { ok: true, projects: [hasMore ? first : second], hasMore };
    return route.fulfill({ json: { ...json, nextCursor: hasMore ? 'next' : null } });
  });
  await press(page, 'New server');
  await page.locator('label').filter({ hasText: 'Only these' }).click();
  await press(page, 'Read more projects');
  await page.getByText(second.name).waitFor();
  expect(await page.getByText('Read more projects').count()).toBe(0);
});
