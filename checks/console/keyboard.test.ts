/** The flows by the keyboard alone. Longer ones are in `long/`. */
import { afterAll, beforeAll, expect } from 'vitest';
import { OWNER } from '../harness/service.ts';
import { makeApp, startGround, waitingThread } from './ground.ts';
import type { App, Ground } from './ground.ts';
import { atRest, faultsOfLook, focused, tabTo, visitAt } from './page.ts';
import { browserTest, useBrowser } from './rig.ts';

const rig = useBrowser();
let ground: Ground;
let app: App;
beforeAll(async () => {
  ground = await startGround();
  app = await makeApp(ground.client);
}, 60_000);
afterAll(() => ground?.stop());

const options = () => ({ base: ground.base, state: ground.state });

browserTest('signing in, from the address that was asked for', async () => {
  const visit = await rig.visit({ base: ground.base });
  visit.allows(/: 401$/);
  const { page } = visit;
  await page.goto('/console/apps');
  await page.getByLabel(/e-?mail/i).waitFor();
  expect(await faultsOfLook(visit)).toEqual([]);
  expect(await focused(page)).toMatch(/e-?mail/i);
  await page.keyboard.type(OWNER.email);
  await page.keyboard.press('Tab');
  await page.keyboard.type(OWNER.password);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Apps', level: 1 }).waitFor();
  await atRest(visit);
});

browserTest('the palette, and keys that go', async () => {
  const visit = await visitAt(rig, '/console/', options());
  const { page } = visit;
  await page.keyboard.press('g');
  await page.keyboard.press('a');
  await page.getByRole('heading', { name: 'Apps', level: 1 }).waitFor();
  await page.keyboard.press('ControlOrMeta+k');
  await page.getByRole('searchbox', { name: /App, thread/ }).waitFor();
  await page.keyboard.type('Checkout');
  await page
    .getByRole('menuitem', { name: /Checkout/ })
    .first()
    .waitFor();
  // The first one is chosen as it is typed.
  await page.keyboard.press('Enter');
  await expect.poll(() => page.url()).toContain(`/console/apps/${app.id}`);
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});

browserTest('approving', async () => {
  const thread = await waitingThread(ground.client, app);
  const visit = await visitAt(rig, '/console/', options());
  const { page } = visit;
  await tabTo(page, /^button Approve/);
  await page.keyboard.press('Enter');
  await expect
    .poll(async () => (await ground.client.approvals.list(app.id, thread.id)).items[0]?.status)
    .toBe('approved');
  await page.getByRole('button', { name: 'Approve' }).waitFor({ state: 'detached' });
});
