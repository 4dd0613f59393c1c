/** Variables and secrets: what the pages show, and that a secret's value is nowhere once it was sent. */
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import type { Page } from 'playwright-core';
import { makeApp, startGround, variables } from './ground.ts';
import type { App, Ground } from './ground.ts';
import { atRest, visitAt } from './page.ts';
import { startProxy } from './proxy.ts';
import type { Proxy } from './proxy.ts';
import { HELD, KEPT } from './remains.ts';
import { browserTest, useBrowser } from './rig.ts';

const rig = useBrowser();
let ground: Ground;
let proxy: Proxy;
let app: App;
beforeAll(async () => {
  ground = await startGround();
  proxy = await startProxy(ground.base);
  app = await makeApp(ground.client);
  await variables(ground, app);
}, 60_000);
afterEach(() => proxy?.plan(() => null));
afterAll(async () => {
  await proxy?.close();
  await ground?.stop();
});

const at = (path: string) => visitAt(rig, path, { base: proxy.base, state: ground.state });
const field = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).first().click();
const saved = (page: Page) => page.getByRole('dialog').waitFor({ state: 'detached' });

const SECRET = 'correct-horse-7f3a9b';
/** The beginning of every hash that the page could make of a write with it would be as bad: there is none at all. */
const WRITE_KEYS = `Object.keys(sessionStorage).filter((name) => name.startsWith('headrace:write:'))`;

browserTest('a secret is sent once, and then nowhere', async () => {
  const visit = await at(`/console/apps/${app.id}/environment`);
  visit.allows(/^PUT .*: (\d+|net::ERR.*)$/);
  const { page } = visit;
  const asked = { address: '', body: '' };
  page.on('request', (request) => {
    asked.address += request.url();
    if (request.method() === 'PUT') asked.body += request.postData() ?? '';
  });
  await press(page, 'New variable');
  await field(page, 'Name').fill('NEW_TOKEN');
  await field(page, 'Value').fill(SECRET);
  await page.getByText('Secret', { exact: true }).click();
  // The samples are copied and shown to others.
  await press(page, 'Show as curl, TypeScript and command line');
  const samples = page.getByRole('dialog', { name: 'The same by code' });
  expect(await samples.innerText()).toContain('NEW_TOKEN');
  expect(await samples.innerText()).not.toContain(SECRET);
  await page.keyboard.press('Escape');
  await samples.waitFor({ state: 'detached' });
  // Without an answer, the next try is the same write: its key may not be kept under a hash of the secret.
  proxy.plan(({ method }) =>
    method === 'PUT' ? { kind: 'answer', status: 503, code: 'unavailable', retryAfterSeconds: 90 } : null,
  );
  await press(page, 'Save');
  await page.getByRole('alert').filter({ hasText: 'req_of_the_test' }).waitFor();
  expect(await page.evaluate(WRITE_KEYS)).toEqual([]);
  expect(
    await page.evaluate<string>(`JSON.stringify([{...sessionStorage}, {...localStorage}])`),
  ).not.toContain(SECRET);
  // While the form is open it is there: so the search below would find it.
  expect((await page.evaluate<{ text: string }>(HELD)).text).toContain(SECRET);
  proxy.plan(() => null);
  await press(page, 'Save');
  await saved(page);
  await atRest(visit);
  expect(asked.body).toContain(SECRET);
  expect(asked.address).not.toContain(SECRET);
  expect(await page.evaluate<string>(KEPT)).not.toContain(SECRET);
  const row = page.getByRole('listitem').filter({ hasText: 'NEW_TOKEN' });
  expect(await row.innerText()).toMatch(/secret, never shown/);
  await expect
    .poll(async () => (await page.evaluate<{ text: string }>(HELD)).text.includes(SECRET))
    .toBe(false);
  expect((await page.evaluate<{ count: number }>(HELD)).count).toBeGreaterThan(1000);
  // Nor does the form have it when it is opened again, by whatever way.
  await press(page, 'Change NEW_TOKEN');
  expect(await field(page, 'Value').inputValue()).toBe('');
  await page.getByText(/never shown\. To change anything about it/).waitFor();
  await page.reload();
  await atRest(visit);
  expect(await page.evaluate<string>(KEPT)).not.toContain(SECRET);
});

browserTest('the app’s variables, the organization’s, and which of these are hidden', async () => {
  const visit = await at(`/console/apps/${app.id}/environment`);
  const { page } = visit;
  const row = async (name: string) => page.getByRole('listitem').filter({ hasText: name }).innerText();
  expect(await row('API_URL')).toMatch(/checkout\.example\.test[\s\S]*the app’s, hides the organization’s/);
  expect(await row('REGISTRY_TOKEN')).toMatch(/secret, never shown[\s\S]*the organization’s/);
  // What the app sets goes before.
  await press(page, 'Set here: REGISTRY_TOKEN');
  await field(page, 'Value').fill('of the app alone');
  await page.getByText('previews', { exact: true }).click();
  await press(page, 'Save');
  await saved(page);
  await page.getByRole('button', { name: 'Change REGISTRY_TOKEN' }).waitFor();
  expect(await ground.client.environment.get(app.id, 'REGISTRY_TOKEN')).toMatchObject({
    value: 'of the app alone',
    secret: false,
    targets: ['run', 'exec', 'build'],
  });
  // Deleted, the organization's holds again.
  await press(page, 'Delete REGISTRY_TOKEN');
  await page.getByText('The organization’s variable of this name then holds').waitFor();
  await press(page, 'Delete the variable');
  await saved(page);
  await page.getByRole('button', { name: 'Set here: REGISTRY_TOKEN' }).waitFor();
});

browserTest('what would be refused is said at its field, and nothing is sent', async () => {
  const visit = await at('/console/organization/environment');
  const { page } = visit;
  await press(page, 'New variable');
  for (const name of ['9LIVES', 'PATH', 'HEADRACE_X', 'https_proxy', 'a b']) {
    await field(page, 'Name').fill(name);
    await field(page, 'Value').fill('1');
    const fault = page.getByText(/no digit at the start|The sandbox sets this name/);
    await fault.waitFor();
    expect(await field(page, 'Name').getAttribute('aria-invalid')).toBe('true');
  }
  await field(page, 'Name').fill('GOOD');
  await page.getByText('Secret', { exact: true }).click();
  await page.getByText('A secret has at least 8 characters').waitFor();
  proxy.forget();
  await field(page, 'Name').press('Enter');
  expect(await page.getByRole('button', { name: 'Save' }).getAttribute('aria-disabled')).toBe('true');
  expect(proxy.asked().filter(({ method }) => method === 'PUT')).toEqual([]);
});

browserTest('who may not read the organization’s is shown nothing of them', async () => {
  proxy.plan(({ path }) =>
    path.startsWith('/api/environment') ? { kind: 'answer', status: 403, code: 'forbidden' } : null,
  );
  const visit = await at('/console/organization/environment');
  visit.allows(/\/api\/environment.*: 403$/);
  await visit.page.getByText('It does not exist, or you may not see it').waitFor();
  expect(await visit.page.getByRole('button', { name: 'New variable' }).count()).toBe(0);
});

browserTest('the text of a .env file, up to the first that is refused', async () => {
  const fresh = await makeApp(ground.client, 'Imported');
  const visit = await at(`/console/apps/${fresh.id}/environment`);
  visit.allows(/^PUT .*: 409$/);
  const { page } = visit;
  await press(page, 'Import');
  await field(page, 'Text of a .env file').fill(
    '# of the shop\nexport ONE=1 # first\nSTRIPE_KEY="sk_test_51H8\\nend"\n\nTHREE=',
  );
  const rows = page.getByRole('list', { name: 'Variables in the text' }).getByRole('listitem');
  expect(await rows.count()).toBe(3);
  expect(await page.getByRole('checkbox', { name: 'STRIPE_KEY is a secret' }).isChecked()).toBe(true);
  expect(await page.getByRole('checkbox', { name: 'ONE is a secret' }).isChecked()).toBe(false);
  proxy.plan(({ method, path }) =>
    method === 'PUT' && path.endsWith('/THREE') ? { kind: 'answer', status: 409, code: 'conflict' } : null,
  );
  await press(page, 'Set 3 variables');
  await page.getByText(/THREE.*was refused or has no answer; none after it was set/).waitFor();
  const set = async () => (await ground.client.environment.list(fresh.id)).items;
  expect((await set()).map(({ name }) => name)).toEqual(['ONE', 'STRIPE_KEY']);
  proxy.plan(() => null);
  proxy.forget();
  await press(page, 'Set 1 variable');
  await saved(page);
  expect(proxy.asked().filter(({ method }) => method === 'PUT').length).toBe(1);
  expect(
    (await set()).map(({ name, value, secret, targets }) => [name, value, secret, targets.length]),
  ).toEqual([
    ['ONE', '1', false, 4],
    ['STRIPE_KEY', null, true, 3],
    ['THREE', '', false, 4],
  ]);
  await atRest(visit);
  expect(await page.evaluate<string>(KEPT)).not.toContain('sk_test_51H8');
});

browserTest('by the keyboard alone', async () => {
  const visit = await at(`/console/apps/${app.id}/environment`);
  const { page } = visit;
  await page.keyboard.press('n');
  await page.getByRole('dialog', { name: 'New variable' }).waitFor();
  await page.keyboard.type('TYPED');
  await page.keyboard.press('Tab');
  await page.keyboard.type('by hand');
  // Enter makes a line of the value, so it is saved by its button.
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Enter');
  await saved(page);
  await page.getByRole('button', { name: 'Change TYPED' }).waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: /^Change / }).waitFor();
  await page.keyboard.press('Escape');
  await saved(page);
});
