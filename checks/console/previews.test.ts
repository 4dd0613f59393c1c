/** A preview in a frame of the console: only where the app lets it, and never out of its frame. */
import { beforeAll, describe, expect } from 'vitest';
import type { Preview } from '@headrace/client';
import { browserTest, useBrowser, sharedSite } from './rig.ts';
import { makeApp, untilThread } from './ground.ts';
import type { App, Site } from './ground.ts';
import { visitAt } from './page.ts';

const PAGE = `<!doctype html><title>Shop</title><h1>Shop</h1><a href=/out target=_top>Leave</a>
<script>try { top.location = '/out' } catch (error) { document.title = error.name }</script>`;

describe('a preview that would leave its frame', () => {
  const rig = useBrowser();
  let ground: Site;
  let app: App;
  let shown: Preview;

  beforeAll(async () => {
    ground = sharedSite();
    const { client } = ground;
    app = await makeApp(client);
    await client.settings.update(app.id, { preview: { frameAncestors: ['https://shop.example.test'] } });
    const { thread } = await client.threads.create(app.id, { title: 'Look at the page' });
    await untilThread(client, app, thread.id, ({ status }) => status === 'ready');
    const server = `require('http').createServer((q,r)=>r.setHeader('content-type','text/html').end(Buffer.from('${Buffer.from(PAGE).toString('base64')}','base64'))).listen(3000)`;
    shown = await client.previews
      .create(app.id, thread.id, { command: `node -e "${server}"`, port: 3000 })
      .done();
  }, 120_000);

  browserTest('is shown once this console is allowed, and stays in it', async () => {
    const visit = await visitAt(rig, `/console/apps/${app.id}/previews/${shown.id}`, ground);
    visit.allows(/Unsafe attempt to initiate navigation/);
    const { page } = visit;
    await page.getByText('not shown in this console').waitFor();
    expect(await page.locator('iframe').count()).toBe(0);
    await page.getByRole('button', { name: 'Allow this console' }).click();
    const frame = page.frameLocator('iframe');
    await frame.getByRole('heading', { name: 'Shop' }).waitFor();
    expect((await ground.client.settings.get(app.id)).preview).toEqual({
      frameAncestors: ['https://shop.example.test', ground.base],
    });
    // Its script was refused, and so is a click: the console says so when it has been tried.
    await expect.poll(() => frame.locator('title').textContent()).toBe('SecurityError');
    const refused = page.waitForEvent('console', (said) =>
      said.text().startsWith('Unsafe attempt to initiate'),
    );
    await frame.getByText('Leave').click();
    await refused;
    expect(new URL(page.url()).pathname).toBe(`/console/apps/${app.id}/previews/${shown.id}`);
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Its address answers no more').waitFor();
    expect((await ground.client.previews.get(app.id, shown.id)).status).toBe('stopped');
  });
});
