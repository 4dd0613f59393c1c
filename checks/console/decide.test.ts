/** Decisions on conflicts: nothing that is typed is lost, what is shown stays, and a phone has room for it. */
import { beforeAll, expect } from 'vitest';
import { conflictedApply } from './ground.ts';
import type { Site } from './ground.ts';
import { open } from './page.ts';
import { startProxy } from './proxy.ts';
import { browserTest, sharedSite, useBrowser } from './rig.ts';
import { expectGoesOnSignedIn, isApply, threeConflicts } from './sends.ts';

const rig = useBrowser();
let ground: Site;
beforeAll(async () => {
  ground = sharedSite();
}, 60_000);

browserTest(
  'a decision leaves its file shown; a text outlives an undo, and comes to other tabs',
  async () => {
    const { app, thread } = await conflictedApply(ground.client);
    const path = `/console/apps/${app.id}/threads/${thread.id}/apply`;
    const visit = await rig.visit({ base: ground.base, state: ground.state });
    await open(visit, path);
    const { page } = visit;
    const shown = () => page.getByRole('article').getByRole('heading', { level: 2 }).innerText();
    const first = await shown();
    await page.keyboard.press('2');
    await page.getByText(/^[1-9]\d* of \d+ decided/).waitFor();
    expect(await shown()).toBe(first);

    await open(visit, `${path}?path=src/prices.ts`);
    const other = await page.context().newPage();
    await other.goto(`${path}?path=src/prices.ts`);
    await page.getByRole('button', { name: 'Edit the result' }).click();
    const editor = page.getByRole('textbox', { name: /Result of/ });
    await editor.click();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('my own text');
    await other.getByText('my own text').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await editor.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Edit the result' }).click();
    await expect.poll(() => editor.innerText()).toContain('my own text');
    await page.setViewportSize({ width: 390, height: 800 });
    const list = page.getByRole('navigation', { name: 'Conflicts' });
    expect(await list.isVisible()).toBe(false);
    await page.getByRole('button', { name: /src\/prices\.ts/, expanded: false }).click();
    await list.waitFor();
  },
);

browserTest(
  'a session that ends amid a send is begun again over the page, and the same send goes on',
  { timeout: 60_000 },
  async () => {
    const proxy = await startProxy(ground.base);
    try {
      const made = await threeConflicts(ground.client);
      const visit = await rig.visit({ base: proxy.base, state: ground.state });
      try {
        await expectGoesOnSignedIn({ client: ground.client, visit, proxy, made, is: isApply });
      } finally {
        await visit.close();
      }
    } finally {
      await proxy.close();
    }
  },
);
