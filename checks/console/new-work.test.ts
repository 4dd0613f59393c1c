/** The dialogs for a build and a preview, opened from the lists: they begin with a thread. */
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { makeApp, startGround, untilThread } from './ground.ts';
import type { App, Ground } from './ground.ts';
import { visitAt } from './page.ts';
import { browserTest, useBrowser } from './rig.ts';

describe('new work without a thread named', () => {
  const rig = useBrowser();
  let ground: Ground;
  let app: App;

  beforeAll(async () => {
    ground = await startGround();
    const { client } = ground;
    app = await makeApp(client);
    for (const title of ['Older', 'Newer', 'Archived']) {
      const { thread } = await client.threads.create(app.id, { title });
      await untilThread(client, app, thread.id, ({ status }) => status === 'ready');
      if (title === 'Archived') await client.threads.update(app.id, thread.id, { archived: true });
    }
  }, 120_000);
  afterAll(() => ground?.stop());

  browserTest('begins with the newest thread that takes work', async () => {
    for (const [part, opens] of [
      ['builds', 'New build'],
      ['previews', 'Start a preview'],
    ] as const) {
      const { page } = await visitAt(rig, `/console/apps/${app.id}/${part}`, ground);
      await page.getByRole('button', { name: opens }).click();
      const dialog = page.getByRole('dialog', { name: opens });
      await dialog.getByLabel('Command', { exact: true }).waitFor();
      expect(await dialog.getByLabel('Thread').first().textContent(), part).toContain('Newer');
    }
  });
});
