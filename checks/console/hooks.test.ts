/** Webhooks with a receiver on this machine, MCP servers, and the keys of models. */
import { afterAll, beforeAll, expect } from 'vitest';
import type { Page } from 'playwright-core';
import { verifyWebhook } from '@headrace/client/webhooks';
import { untilDelivery } from './areas/hooks.ts';
import type { Site } from './ground.ts';
import { atRest, visitAt } from './page.ts';
import { startReceiver } from './receiver.ts';
import type { Receiver } from './receiver.ts';
import { HELD, KEPT } from './remains.ts';
import { browserTest, sharedSite, useBrowser } from './rig.ts';

const rig = useBrowser();
let site: Site;
let receiver: Receiver;
beforeAll(async () => {
  site = sharedSite();
  receiver = await startReceiver();
});
afterAll(() => receiver?.close());

const at = (path: string) =>
  visitAt(rig, `/console/organization/${path}`, { base: site.base, state: site.state });
const field = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).first().click();
const choose = (page: Page, name: string) =>
  page
    .locator('label')
    .filter({ hasText: new RegExp(`^${name}`) })
    .click();
const closed = (page: Page) => page.getByRole('dialog').waitFor({ state: 'detached' });
const more = async (page: Page, item: string) => {
  await press(page, 'More');
  await page.getByRole('menuitem', { name: item, exact: true }).click();
};
const delivered = (page: Page) =>
  page.getByText('delivered', { exact: true }).first().waitFor({ timeout: 15_000 });
const isOff = (page: Page, name: string) =>
  page.getByRole('button', { name, exact: true }).getAttribute('aria-disabled');
const main = (page: Page) => page.locator('main').innerText();
const held = async (page: Page) => (await page.evaluate<{ text: string }>(HELD)).text;
/** Of tests: runs of other files may be delivered, too. */
const lastTest = () => receiver.received().findLast(({ body }) => body.includes('"webhook.ping"'))!;
/** None of its events happens here. */
const hook = async (...statuses: number[]) =>
  (await site.client.webhooks.create({ url: receiver.at(...statuses), types: ['approval.*'] })).subscription;

browserTest('made by the keyboard: its secret is shown once, and signs a test', async () => {
  const visit = await at('webhooks');
  const { page } = visit;
  await page.keyboard.press('n');
  await page.getByRole('dialog', { name: 'New webhook' }).waitFor();
  await page.keyboard.type(receiver.at(200));
  expect(await isOff(page, 'Create')).toBeNull();
  await choose(page, 'Only these');
  expect(await isOff(page, 'Create')).toBe('true');
  await choose(page, String.raw`run\.\*`);
  // The group stands for its types.
  expect(await page.getByRole('checkbox', { name: /^completed/ }).isDisabled()).toBe(true);
  await page.getByRole('group', { name: 'Types of events' }).getByText('a thread is deleted').click();
  // What is typed outlives a reload.
  await page.reload();
  await press(page, 'New webhook');
  await field(page, 'URL').focus();
  await page.keyboard.press('Enter');
  const secret = await page.getByLabel('Secret', { exact: true }).inputValue();
  expect(secret).toMatch(/^whsec_/);
  expect(await page.getByRole('dialog').innerText()).toContain('verifyWebhook(process.env.WEBHOOK_SECRET');
  // It is not lost by a key that slips.
  await page.keyboard.press('Escape');
  expect(await page.getByLabel('Secret', { exact: true }).count()).toBe(1);
  const stored = `JSON.stringify([{ ...sessionStorage }, { ...localStorage }, history.state, location.href])`;
  expect(await page.evaluate<string>(stored)).not.toContain(secret);
  expect(await held(page)).toContain(secret);
  await press(page, 'I have saved it');
  await page.getByRole('heading', { name: /^Webhook wh_/ }).waitFor();
  await atRest(visit);
  expect(await page.evaluate<string>(KEPT)).not.toContain(secret);
  await expect.poll(() => held(page).then((text) => text.includes(secret))).toBe(false);
  expect(await main(page)).toMatch(/run\.\*, thread\.deleted/);
  await press(page, 'Send a test');
  await expect
    .poll(() => main(page))
    .toMatch(/webhook\.ping[\s\S]*of a test[\s\S]*1\s+200 accepted[\s\S]*stored/);
  expect(page.url()).toMatch(/\?delivery=whd_/);
  const { headers, body } = lastTest();
  expect((await verifyWebhook(secret, headers, body)).type).toBe('webhook.ping');
});

browserTest('a new secret signs beside the former one, and is gone when it is stored', async () => {
  const { subscription, secret: former } = await site.client.webhooks.create({
    url: receiver.at(200),
    types: ['approval.*'],
  });
  const visit = await at(`webhooks/${subscription.id}`);
  const { page } = visit;
  await more(page, 'New secret');
  await press(page, 'Make a new secret');
  const secret = await page.getByLabel('Secret', { exact: true }).inputValue();
  await press(page, 'I have saved it');
  await closed(page);
  await press(page, 'Send a test');
  await delivered(page);
  await atRest(visit);
  expect(await page.evaluate<string>(KEPT)).not.toContain(secret);
  await expect.poll(() => held(page).then((text) => text.includes(secret))).toBe(false);
  const { headers, body } = lastTest();
  expect(headers['webhook-signature']!.split(' ').length).toBe(2);
  for (const either of [secret, former!])
    expect((await verifyWebhook(either, headers, body)).type).toBe('webhook.ping');
});

browserTest('a failing one says what it answered, is given another URL, and is deleted', async () => {
  const { client } = site;
  const { id } = await hook(500);
  const { id: delivery } = await client.webhooks.test(id);
  await untilDelivery(client, id, ({ attemptCount }) => attemptCount > 0);
  const visit = await at(`webhooks/${id}?delivery=${delivery}`);
  visit.allows(/^PATCH .*: 400$/);
  const { page } = visit;
  expect(await main(page)).toMatch(
    /Failing since[\s\S]*pending[\s\S]*Next attempt[\s\S]*500 refused: [\s\S]*<script>alert\(1\)/,
  );
  await more(page, 'Change');
  await field(page, 'URL').fill('https://127.0.0.1/#fragment');
  await press(page, 'Save');
  await page.getByText('must not contain a fragment').waitFor();
  await field(page, 'URL').fill(receiver.at(200));
  const asked = page.waitForRequest((request) => request.method() === 'PATCH');
  await press(page, 'Save');
  expect((await asked).postDataJSON()).toEqual({ url: receiver.at(200) });
  await closed(page);
  await more(page, 'Delete');
  await page.getByText('To stop for a while, pause it.').waitFor();
  await press(page, 'Delete the webhook');
  await page.getByRole('heading', { name: 'Webhooks', exact: true }).waitFor();
  expect((await client.webhooks.list({ limit: 100 })).items.some((one) => one.id === id)).toBe(false);
});

browserTest('what is pending is followed without an event, until it is delivered', async () => {
  const { id } = await hook(500, 200);
  const { page } = await at(`webhooks/${id}`);
  await page.getByText('No deliveries yet').waitFor();
  await press(page, 'Send a test');
  await delivered(page);
  await expect.poll(() => main(page)).toMatch(/2 attempts[\s\S]*500 refused[\s\S]*200 accepted/);
  expect(await main(page)).not.toContain('Failing since');
});

browserTest('a receiver that is gone disables it; pausing, narrowing and sending again', async () => {
  const { client } = site;
  const { id } = await hook(410);
  const visit = await at(`webhooks/${id}`);
  visit.allows(/\/redeliver: 409/);
  const { page } = visit;
  await press(page, 'Send a test');
  await page.getByText('The receiver answered 410, so nothing more is sent to it.').waitFor();
  await page.getByRole('heading', { name: /disabled$/ }).waitFor();
  await page.getByText(/which says that it is gone for good/).waitFor();
  expect(await isOff(page, 'Redeliver')).toBe('true');
  await client.webhooks.update(id, { url: receiver.at(200) });
  await press(page, 'Enable again');
  await page.getByRole('heading', { name: /enabled$/ }).waitFor();
  // Another pauses it meanwhile: the service refuses, in words.
  await client.webhooks.update(id, { disabled: true });
  await press(page, 'Redeliver');
  await page.getByRole('alert').filter({ hasText: 'Not possible now' }).waitFor();
  await client.webhooks.update(id, { disabled: false });
  await press(page, 'Redeliver');
  await page.getByText('sent again').waitFor();
  await delivered(page);
  await press(page, 'Failed');
  await expect.poll(() => page.url()).toContain('status=failed');
  // The open one stays, though it is not among those that failed.
  await page.getByRole('list', { name: 'The open delivery' }).waitFor();
  await press(page, 'Pending');
  await page.getByText('No such delivery').waitFor();
  await press(page, 'All');
  await page.getByRole('button', { name: /Type of event/ }).click();
  await page.getByRole('option', { name: 'run.completed' }).click();
  await page.getByText('No such delivery').waitFor();
  expect(page.url()).toContain('eventType=run.completed');
  await press(page, 'Pause');
  await page.getByRole('heading', { name: /paused$/ }).waitFor();
  expect((await client.webhooks.get(id)).disabledReason).toBe('user');
  await press(page, 'Resume');
  await page.getByRole('heading', { name: /enabled$/ }).waitFor();
});

browserTest('deliveries are opened and left by the keyboard', async () => {
  const { id } = await hook(200);
  await site.client.webhooks.test(id);
  await untilDelivery(site.client, id, ({ status }) => status === 'succeeded');
  const { page } = await at(`webhooks/${id}`);
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.getByRole('list', { name: 'Attempts' }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('list', { name: 'Attempts' }).waitFor({ state: 'detached' });
  expect(page.url()).not.toContain('delivery=');
});

browserTest('an MCP server: its headers are given, kept, replaced and never shown', async () => {
  const { client } = site;
  const name = `tickets ${crypto.randomUUID().slice(0, 8)}`;
  const { id: appId } = await client.apps.create({ name: `Of ${name}` });
  const visit = await at('mcp-servers');
  const { page } = visit;
  await page.keyboard.press('n');
  await page.getByRole('dialog', { name: 'New MCP server' }).waitFor();
  await page.keyboard.type(name);
  await field(page, 'URL').fill('https://mcp.example.test/');
  await press(page, 'Add a header');
  await field(page, 'Header 1').fill('Authorization');
  expect(await isOff(page, 'Create')).toBe('true');
  const secret = 'Bearer of-the-tickets-4711';
  await page.getByLabel('Value 1', { exact: true }).fill(secret);
  await press(page, 'Show as curl, TypeScript and command line');
  const samples = page.getByRole('dialog', { name: 'The same by code' });
  expect(await samples.innerText()).toContain('THE VALUE');
  expect(await samples.innerText()).not.toContain(secret);
  await page.keyboard.press('Escape');
  await press(page, 'Create');
  await closed(page);
  const row = page.getByRole('listitem').filter({ hasText: name });
  expect(await row.innerText()).toMatch(/authorization set, never shown[\s\S]*all apps and projects/);
  await atRest(visit);
  expect(await page.evaluate<string>(KEPT)).not.toContain(secret);
  await expect.poll(() => held(page).then((text) => text.includes(secret))).toBe(false);
  const stored = async () =>
    (await client.mcpServers.list({ limit: 200 })).items.find((server) => server.name === name)!;
  const { id } = await stored();
  // Kept, while it may be used by one app only.
  await page.getByRole('link', { name: `Change ${name}` }).click();
  await expect.poll(() => page.url()).toContain(`server=${id}`);
  await page.getByRole('dialog').getByText('set, never shown').waitFor();
  await choose(page, 'Only these');
  await page.getByRole('group', { name: 'Apps and projects' }).getByText(`Of ${name}`).click();
  const asked = page.waitForRequest((request) => request.method() === 'PATCH');
  await press(page, 'Save');
  expect((await asked).postDataJSON()).toEqual({ projectIds: [appId] });
  await closed(page);
  await expect.poll(() => row.innerText()).toContain(`Of ${name}`);
  // At another origin it cannot stay.
  await page.getByRole('link', { name: `Change ${name}` }).click();
  await field(page, 'URL').fill('https://other.example.test/');
  await page.getByText(/given for another place/).waitFor();
  expect(await field(page, 'Header 1').count()).toBe(0);
  await field(page, 'URL').fill('https://mcp.example.test/v2');
  await press(page, 'Replace or remove them');
  expect(await field(page, 'Header 1').inputValue()).toBe('authorization');
  expect(await page.getByLabel('Value 1', { exact: true }).inputValue()).toBe('');
  await press(page, 'Remove authorization');
  await press(page, 'Save');
  await closed(page);
  expect(await stored()).toMatchObject({ url: 'https://mcp.example.test/v2', headers: [] });
  await press(page, `Delete ${name}`);
  await press(page, 'Delete the server');
  await closed(page);
  await row.waitFor({ state: 'detached' });
  expect(await stored()).toBeUndefined();
});

browserTest('a provider’s key is set, replaced and deleted, and is nowhere', async () => {
  const { client } = site;
  const visit = await at('models');
  const { page } = visit;
  const keys = async () => (await client.modelKeys.list()).items.map(({ provider }) => provider);
  expect(await main(page)).toMatch(/scripted[\s\S]*default/);
  await page.keyboard.press('n');
  await page.getByRole('dialog', { name: 'Set a provider’s key' }).waitFor();
  await page.keyboard.type('openai');
  const secret = 'sk-of-a-browser-4711';
  await page.getByLabel('Key', { exact: true }).fill(`${secret}\n`);
  await page.keyboard.press('Enter');
  await closed(page);
  await page.getByRole('listitem').filter({ hasText: 'openai' }).waitFor();
  await page.getByText('openai/*', { exact: true }).waitFor();
  await atRest(visit);
  expect(await page.evaluate<string>(KEPT)).not.toContain(secret);
  await expect.poll(() => held(page).then((text) => text.includes(secret))).toBe(false);
  expect(await keys()).toContain('openai');
  await page.keyboard.press('/');
  await page.keyboard.type('gpt-4o-mini');
  await expect.poll(() => page.getByRole('row').count()).toBeLessThan(10);
  expect(await main(page)).toMatch(/openai\/gpt-4o-mini[\s\S]*\$0\.15[\s\S]*\$0\.60/);
  await press(page, 'Replace the key of openai');
  expect(await page.getByLabel('Key', { exact: true }).inputValue()).toBe('');
  await page.getByLabel('Key', { exact: true }).fill('sk-another');
  await press(page, 'Replace the key');
  await closed(page);
  await press(page, 'Delete the key of openai');
  await page
    .getByText(/fail with not_configured/)
    .last()
    .waitFor();
  await press(page, 'Delete the key');
  await closed(page);
  await expect.poll(keys).not.toContain('openai');
  await expect.poll(() => main(page)).not.toContain('openai/*');
});
