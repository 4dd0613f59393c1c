/** What surrounds the pages: parts that cannot be loaded, sessions that end, other tabs, the sidebar of a phone. */
import { afterAll, beforeAll, expect } from 'vitest';
import { OWNER } from '../harness/service.ts';
import { makeApp, startGround } from './ground.ts';
import type { Ground } from './ground.ts';
import { focused, visitAt } from './page.ts';
import { browserTest, useBrowser } from './rig.ts';

const rig = useBrowser();
let ground: Ground;
beforeAll(async () => {
  ground = await startGround();
  await makeApp(ground.client);
}, 60_000);
afterAll(() => ground?.stop());

const options = () => ({ base: ground.base, state: ground.state });

browserTest('a part that cannot be loaded leaves the page, and is not called a new version', async () => {
  const visit = await visitAt(rig, '/console/apps', options());
  visit.allows(/net::ERR/, /console: /);
  const { page } = visit;
  await page.evaluate('window.isTheSame = true');
  await visit.context.route(/assets\/(finder|account-page)-/, (route) => route.abort());
  await page.keyboard.press('ControlOrMeta+k');
  const line = page.getByRole('alert').filter({ hasText: 'This part could not be loaded.' });
  await line.waitFor();
  await line.getByRole('button', { name: 'Dismiss' }).click();
  await line.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'You and the organization' }).click();
  await page.getByRole('menuitem', { name: 'Your account' }).click();
  await page.getByText('This page could not be loaded.').waitFor();
  expect(await page.evaluate('window.isTheSame')).toBe(true);
  expect(await page.getByRole('button', { name: /New version/ }).count()).toBe(0);
  await visit.context.unroute(/assets\/(finder|account-page)-/);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('heading', { name: 'Your account', level: 1 }).waitFor();
});

browserTest('a session that has ended is begun again over the page', async () => {
  const visit = await visitAt(rig, '/console/apps', options());
  visit.allows(/: 401$/);
  const { page } = visit;
  await page.evaluate('window.isTheSame = true');
  await visit.context.clearCookies();
  await page.keyboard.press('ControlOrMeta+k');
  await page.getByRole('searchbox', { name: /App, thread/ }).waitFor();
  await page.keyboard.type('Check');
  const dialog = page.getByRole('dialog', { name: 'Sign in to go on' });
  await dialog.getByLabel('Password').fill(OWNER.password);
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('menuitem', { name: 'Checkout' }).waitFor();
  expect(await page.evaluate('window.isTheSame')).toBe(true);
});

browserTest('a tab is told when another one goes to another organization, and to return', async () => {
  const visit = await visitAt(rig, '/console/apps', options());
  const other = await visit.newTab();
  await other.goto('/console/apps');
  await other.getByRole('heading', { name: 'Apps', level: 1 }).waitFor();
  const { user, activeOrganizationId } = await other.evaluate<{
    user: { id: string };
    activeOrganizationId: string;
  }>(`fetch('/api/session').then((answer) => answer.json())`);
  const tell = (id: string) =>
    other.evaluate(`new BroadcastChannel('headrace:${user.id}').postMessage('${id}')`);
  const dialog = visit.page.getByRole('dialog', { name: 'You now work in another organization' });
  await tell('org_other');
  await dialog.getByRole('button', { name: 'Reload' }).waitFor();
  await tell(activeOrganizationId);
  await dialog.waitFor({ state: 'detached' });
});

browserTest('the sidebar of a phone takes the focus, and Escape gives it back', async () => {
  const { page } = await visitAt(rig, '/console/', { ...options(), width: 390 });
  const nav = page.getByRole('navigation', { name: 'Console' });
  await page.getByRole('button', { name: 'Open the navigation' }).click();
  await expect.poll(() => focused(page)).toMatch(/Close the navigation/);
  expect(await page.locator('[inert] #main').count()).toBe(1);
  await page.keyboard.press('Escape');
  await nav.waitFor({ state: 'hidden' });
  await expect.poll(() => focused(page)).toMatch(/Open the navigation/);
  await page.keyboard.press('Enter');
  await nav.getByRole('link', { name: 'Inbox' }).click();
  await nav.waitFor({ state: 'hidden' });
});
