/** The dialogs for a build and a preview, opened from the lists: they begin with a thread. */
import { beforeAll, expect } from 'vitest';
import { makeApp, moveHead, untilThread } from './ground.ts';
import type { App } from './ground.ts';
import { visitAt } from './page.ts';
import { browserTest, sharedSite, useBrowser } from './rig.ts';

const rig = useBrowser();
let app: App;
beforeAll(async () => {
  const { client } = sharedSite();
  app = await makeApp(client);
  for (const title of ['Older', 'Newer', 'Archived']) {
    const { thread } = await client.threads.create(app.id, { title });
    await untilThread(client, app, thread.id, ({ status }) => status === 'ready');
    if (title === 'Archived') await client.threads.update(app.id, thread.id, { archived: true });
  }
}, 60_000);

browserTest('without a thread named begins with the newest one that takes work', async () => {
  for (const [part, opens] of [
    ['builds', 'New build'],
    ['previews', 'Start a preview'],
  ] as const) {
    const { page } = await visitAt(rig, `/console/apps/${app.id}/${part}`, sharedSite());
    await page.getByRole('button', { name: opens }).click();
    const dialog = page.getByRole('dialog', { name: opens });
    await dialog.getByLabel('Command', { exact: true }).waitFor();
    expect(await dialog.getByLabel('Thread').first().textContent(), part).toContain('Newer');
  }
});

browserTest(
  'of the app takes no thread: a build of the head, shown without one, and repeated so',
  async () => {
    const { client } = sharedSite();
    const { page } = await visitAt(rig, `/console/apps/${app.id}/builds`, sharedSite());
    await page.getByRole('button', { name: 'New build' }).click();
    const dialog = page.getByRole('dialog', { name: 'New build' });
    await dialog.getByLabel('Command', { exact: true }).fill('true');
    await dialog.getByLabel('Output directory').fill('.');
    await dialog.getByLabel('Thread').first().click();
    await page.getByRole('option', { name: 'No thread: the app’s head' }).click();
    await dialog.getByRole('button', { name: 'Build', exact: true }).click();
    await page.waitForURL(/\/builds\/bld_/);
    const made = async () => (await client.builds.listOfApp(app.id, { threadId: 'none' })).items;
    await expect.poll(async () => (await made()).map(({ status }) => status)).toEqual(['ready']);
    await page.getByRole('button', { name: 'Repeat' }).click();
    await expect.poll(async () => (await made()).length).toBe(2);
    await page.getByText('Output', { exact: true }).waitFor();
    expect(await page.getByText('Thread', { exact: true }).count()).toBe(0);
    await page.goto(`${sharedSite().base}/console/apps/${app.id}/builds`);
    await expect.poll(async () => page.locator('a[data-row]', { hasText: 'the app' }).count()).toBe(2);
    const input = { command: 'true', outputDirectory: '.', setup: true };
    const { id } = await client.builds.createOfApp(app.id, input).done();
    await page.goto(`${sharedSite().base}/console/apps/${app.id}/builds/${id}`);
    await page.getByRole('button', { name: 'Repeat' }).click();
    await expect.poll(async () => (await made()).filter(({ setup }) => setup).length).toBe(2);
  },
);

browserTest('a list is narrowed to a thread that is read later, in the order of the list', async () => {
  const { client } = sharedSite();
  const { items } = await client.threads.list(app.id);
  const older = items.find(({ title }) => title === 'Older')!;
  const { page } = await visitAt(rig, `/console/apps/${app.id}`, sharedSite());
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route('**/threads?*', async (route) => {
    await held;
    await route.continue();
  });
  await page.goto(`/console/apps/${app.id}/builds?threadId=${older.id}`);
  const choice = page.getByRole('button', { name: /Of which thread/ });
  await choice.filter({ hasText: 'Thread …' }).waitFor();
  await choice.focus();
  release();
  await choice.filter({ hasText: 'Older' }).waitFor();
  expect(await choice.and(page.locator(':focus')).count()).toBe(1);
  await page.keyboard.press('Enter');
  await expect
    .poll(() => page.getByRole('option').allInnerTexts())
    .toEqual(['All threads', 'No thread: the app itself', ...items.map(({ title }) => title)]);
});

browserTest('files are not brought back into a final thread', async () => {
  const { client } = sharedSite();
  const own = await makeApp(client, 'Final');
  const { thread } = await client.threads.create(own.id, { title: 'Still open' });
  await untilThread(client, own, thread.id, ({ status }) => status === 'ready');
  const before = (await client.head.get(own.id)).sourceId;
  await moveHead(client, own, [{ path: 'docs/new.md', content: 'New\n' }]);
  const { page } = await visitAt(rig, `/console/apps/${own.id}/sources/${before}`, sharedSite());
  await page.getByRole('button', { name: 'Put into a thread' }).click();
  const choice = page.getByRole('dialog').getByLabel('Thread').first();
  await choice.filter({ hasText: 'Still open' }).waitFor();
  await choice.click();
  await page.getByRole('option').first().waitFor();
  expect(await page.getByRole('option').allInnerTexts()).toEqual(['Still open']);
});
