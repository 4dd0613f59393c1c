/** The setting `setup`, the pages of setups, and what threads, builds and previews say of them. */
import { afterAll, beforeAll, expect } from 'vitest';
import type { Page } from 'playwright-core';
import { makeApp, setups, startGround } from './ground.ts';
import type { Ground, Setups } from './ground.ts';
import { atRest, visitAt } from './page.ts';
import { browserTest, useBrowser } from './rig.ts';

const rig = useBrowser();
let ground: Ground;
let made: Setups;
beforeAll(async () => {
  ground = await startGround();
  made = await setups(ground.client);
}, 60_000);
afterAll(() => ground?.stop());

const at = (path: string) => visitAt(rig, `/console/${path}`, { base: ground.base, state: ground.state });
const field = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).first().click();
const choose = (page: Page, name: string) => page.locator('label').filter({ hasText: name }).click();
const main = (page: Page) => page.locator('main').innerText();

browserTest(
  'an app’s setting: the command, its paths with their faults, none, and as the organization',
  async () => {
    const { client } = ground;
    const app = await client.apps.create({ name: 'Set' });
    const visit = await at(`apps/${app.id}/settings`);
    visit.allows(/\/settings.*: 400/);
    const { page } = visit;
    await choose(page, 'A command');
    await field(page, 'Command').fill('npm ci');
    // Without a path, nothing is sent.
    expect(await page.getByRole('button', { name: 'Save', exact: true }).getAttribute('aria-disabled')).toBe(
      'true',
    );
    await field(page, 'Files that it needs').fill('package.json\n../secrets\n');
    await field(page, 'Time limit in seconds').fill('90');
    await page.reload();
    await press(page, 'Save');
    await page.getByText(/^\.\.\/secrets: /).waitFor();
    await field(page, 'Files that it needs').fill('package.json\n\npackages/ ');
    await press(page, 'Save');
    await page.getByText(/^Saved\./).waitFor();
    const setting = { command: 'npm ci', paths: ['package.json', 'packages/'], timeoutSeconds: 90 };
    expect((await client.settings.get(app.id)).setup).toEqual(setting);
    await page
      .locator('label')
      .filter({ hasText: /^None$/ })
      .click();
    await press(page, 'Save');
    const stored = async () => (await client.settings.get(app.id)).setup;
    await expect.poll(stored).toEqual({ ...setting, command: null });
    await page.getByText('None, even if the organization has one.').waitFor();
    await page
      .getByRole('radiogroup', { name: 'What prepares sandboxes' })
      .getByText('As the organization')
      .click();
    await press(page, 'Save');
    await expect.poll(stored).toBeNull();
  },
);

browserTest('the head is prepared by keys, and the page follows it to its end', async () => {
  const { client } = ground;
  const app = await makeApp(client, 'Keys');
  await client.settings.update(app.id, {
    setup: {
      command: 'for i in 1 2 3 4; do echo step $i; sleep 1; done',
      paths: ['.'],
    },
  });
  const { page } = await at(`apps/${app.id}/setups`);
  await page.getByText('No setups yet').waitFor();
  await page.keyboard.press('n');
  await page.getByRole('heading', { name: /^Setup set_/ }).waitFor();
  await page.getByText('step 2', { exact: true }).waitFor();
  await page.getByRole('heading', { name: /ready$/ }).waitFor({ timeout: 30_000 });
  expect(await main(page)).toMatch(/Exit code\s+0[\s\S]*Layer\s+\d+ B/);
  const [first] = (await client.setups.list(app.id)).items;
  expect(page.url()).toContain(first!.id);
  // With force, the same files and command are prepared once more.
  await press(page, 'Run again');
  await expect.poll(async () => (await client.setups.list(app.id)).items.length).toBe(2);
  await expect.poll(() => page.url()).not.toContain(first!.id);
  const keys = (await client.setups.list(app.id)).items.map(({ key }) => key);
  expect(keys[0]).toBe(keys[1]);
});

browserTest('a failed one says why, is tried again, and is found by its id', async () => {
  const { app, failed } = made;
  const visit = await at('');
  // Each app is asked for it.
  visit.allows(/\/setups\/.*: 404/);
  const { page } = visit;
  await page.keyboard.press('ControlOrMeta+k');
  await page.getByRole('searchbox').fill(failed.id);
  await page.getByRole('menuitem', { name: `Open ${failed.id}` }).waitFor();
  await page.getByRole('menuitem', { name: `Open ${failed.id}` }).click();
  await page.getByRole('heading', { name: /failed$/ }).waitFor();
  expect(page.url()).toContain(`/apps/${app.id}/setups/${failed.id}`);
  expect(await main(page)).toMatch(/The command exited with 1[\s\S]*npm error 404[\s\S]*Exit code\s+1/);
  const asked = page.waitForRequest((request) => request.method() === 'POST');
  await press(page, 'Try again');
  expect((await asked).postDataJSON()).toEqual({ sourceId: failed.sourceId });
});

browserTest('a thread says what it waits for and what it does without', async () => {
  const { app, thread, failed, waiting, running } = made;
  const visit = await at(`apps/${app.id}/threads/${thread.id}`);
  const { page } = visit;
  await page.getByText('Setup failed').waitFor();
  await page.getByRole('link', { name: 'Show the setup' }).click();
  await expect.poll(() => page.url()).toContain(failed.id);
  await page.goto(`/console/apps/${app.id}/threads/${waiting.id}`);
  await atRest(visit);
  await page.getByText('Setup under way').waitFor();
  expect(await page.getByRole('link', { name: 'Show the setup' }).getAttribute('href')).toContain(running.id);
});

browserTest('a new thread follows its setup without a reload', async () => {
  const { client } = ground;
  const app = await makeApp(client, 'Waits');
  await client.settings.update(app.id, { setup: { command: 'sleep 5', paths: ['.'] } });
  const { thread } = await client.threads.create(app.id, { title: 'Waits' });
  const { page } = await at(`apps/${app.id}/threads/${thread.id}`);
  await page.getByText('Setup under way').waitFor();
  await page.getByRole('link', { name: /^setup …/ }).waitFor({ timeout: 30_000 });
  expect(await page.getByText('Setup under way').count()).toBe(0);
});

browserTest('builds have the layer when asked, previews unless not, and fail with the setup', async () => {
  const { client } = ground;
  const app = await makeApp(client, 'Layered');
  await client.settings.update(app.id, { setup: { command: 'exit 7', paths: ['.'] } });
  const { page } = await at(`apps/${app.id}/builds`);
  await page.keyboard.press('n');
  await field(page, 'Command').fill('true');
  await field(page, 'Output directory').fill('.');
  await choose(page, 'With the setup’s layer');
  await page.getByRole('button', { name: /Thread/ }).click();
  await page.getByRole('option', { name: 'No thread: the app’s head' }).click();
  await press(page, 'Build');
  await page.getByText(/The setup failed, so this did not start/).waitFor();
  await page.getByRole('link', { name: 'with its layer' }).waitFor();
  expect((await client.builds.listOfApp(app.id)).items).toMatchObject([{ setup: true }]);
  const command = 'node -e "require(\'http\').createServer((q,r)=>r.end()).listen(3000)"';
  await client.previews.createOfApp(app.id, { command, port: 3000 });
  await page.goto(`/console/apps/${app.id}/previews`);
  await page.getByRole('link', { name: /the app/ }).click();
  await page.getByText(/Without the setup’s layer it starts all the same/).waitFor();
  await press(page, 'Start again');
  await choose(page, 'With the setup’s layer');
  await press(page, 'Start');
  await page.getByText('without its layer').waitFor();
  expect(await main(page)).toMatch(/Source\s+src_…\w+ the head, and newer ones as it moves/);
  expect((await client.previews.listOfApp(app.id)).items[0]).toMatchObject({ setup: false, follow: 'head' });
});
