/** The dialogs for a build and a preview, opened from the lists: they begin with a thread. */
import { beforeAll, expect } from 'vitest';
import { makeApp, untilThread } from './ground.ts';
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
