/** The race in a browser, on an app with threads of all kinds. */
import { beforeAll, describe, expect } from 'vitest';
import { browserTest, useBrowser, sharedSite } from './rig.ts';
import { conflictedApply, makeApp, moveHead, untilThread } from './ground.ts';
import type { App, Conflict, Site } from './ground.ts';
import { open, visitAt } from './page.ts';

let ground: Site;
let conflict: Conflict;
let quiet: App;
const rig = useBrowser();

beforeAll(async () => {
  ground = sharedSite();
  conflict = await conflictedApply(ground.client);
  quiet = await makeApp(ground.client, 'Quiet');
});

const at = (app: App, search = '') => `/console/apps/${app.id}${search}`;
const visit = (path: string) => visitAt(rig, path, { base: ground.base, state: ground.state });

describe('the race', () => {
  browserTest('shows revisions and threads in order, with the conflict before the head', async () => {
    const { page } = await visit(at(conflict.app));
    const rows = page.getByRole('list', { name: /revisions of the head/ }).getByRole('listitem');
    expect(await rows.count()).toBe(3);
    expect(await rows.nth(0).textContent()).toContain('Rework the shop');
    expect(await rows.nth(0).textContent()).toMatch(/conflicted.*from 1/);
    expect(await rows.nth(1).textContent()).toMatch(/2A small changehead.*from 1/);
    expect(await rows.nth(2).textContent()).toContain('The first version');
    const drawing = page.getByRole('img', { name: /head is at revision 2.*1 thread joined it.*1 stopped/ });
    expect(await drawing.locator('path').count()).toBe(2);
    await rows.nth(0).getByRole('link', { name: 'Decide' }).waitFor();
  });

  browserTest('a thread that joins moves the head without a reload', async () => {
    const { page } = await visit(at(quiet));
    await page.getByText('No threads yet').waitFor();
    await page.evaluate('window.isTheSamePage = true');
    await moveHead(ground.client, quiet, [{ path: 'docs/live.md', content: 'Live\n' }]);
    await page.getByRole('link', { name: 'Revision 2, its files' }).waitFor();
    await page.getByRole('img', { name: /revision 2\. 1 thread joined it/ }).waitFor();
    await page.getByText('No threads yet').waitFor({ state: 'detached' });
    const { thread } = await ground.client.threads.create(quiet.id, { title: 'A live thread' });
    await untilThread(ground.client, quiet, thread.id, ({ status }) => status === 'ready');
    await page.locator('li', { hasText: /A live thread.*ready/ }).waitFor();
    expect(await page.evaluate('window.isTheSamePage')).toBe(true);
  });

  browserTest('filters by status and title, in the address', async () => {
    const { page } = await visit(at(conflict.app));
    await page.getByRole('link', { name: /^applied/ }).click();
    await page.waitForURL(/status=applied/);
    await page.locator('li', { hasText: 'Rework the shop' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: /^applied/ }).click();
    await page.getByLabel('Find threads by title').fill('rework');
    await page.waitForURL(/query=rework/);
    await page.locator('li', { hasText: 'A small change' }).waitFor({ state: 'detached' });
    await page.locator('li', { hasText: 'Rework the shop' }).waitFor();
  });

  browserTest('starts a thread by keyboard; what is typed outlives a reload', async () => {
    const visited = await visit(at(quiet));
    const { page } = visited;
    await page.keyboard.press('n');
    await page.getByLabel('First message').fill('Say hello.');
    await open(visited, at(quiet));
    await page.keyboard.press('n');
    expect(await page.getByLabel('First message').inputValue()).toBe('Say hello.');
    await page.getByLabel('First message').press('Control+Enter');
    await page.waitForURL(/\/threads\/thr_/);
    const { items } = await ground.client.threads.list(quiet.id);
    expect(items.filter(({ title }) => title === 'Say hello.')).toHaveLength(1);
    const kept = await page.evaluate<string[]>('Object.keys(localStorage)');
    expect(kept.filter((name) => name.endsWith(`new-thread ${quiet.id}`))).toEqual([]);
  });
});
