/** Search in the files of a source: what is found, where it leads, and what is said of what was not searched. */
import { afterAll, beforeAll, expect } from 'vitest';
import type { Page } from 'playwright-core';
import { completedThread, FILES, makeApp } from './ground.ts';
import type { App, Site } from './ground.ts';
import { atRest, faultsOfLook, focused, open, textOf, visitAt } from './page.ts';
import { startProxy } from './proxy.ts';
import type { Proxy } from './proxy.ts';
import { browserTest, sharedSite, useBrowser } from './rig.ts';

const rig = useBrowser();
let ground: Site;
let proxy: Proxy;
let app: App;
beforeAll(async () => {
  ground = sharedSite();
  proxy = await startProxy(ground.base);
  const many = Array.from({ length: 260 }, (_, i) => (i % 2 ? 'nothing here' : `needle ${i}`)).join('\n');
  app = await makeApp(ground.client, 'Searched', [
    ...FILES,
    { path: 'docs/many.txt', content: many },
    { path: 'docs/long.txt', content: `needle😀 ${'x'.repeat(3_000)}\n` },
    { path: 'logo.png', content: 'needle\0' },
  ]);
}, 60_000);
afterAll(() => proxy?.close());

const at = (search: string) =>
  visitAt(rig, `/console/apps/${app.id}/sources/${app.sourceId}${search}`, {
    base: proxy.base,
    state: ground.state,
  });
const words = (page: Page) => page.getByRole('textbox', { name: /^Lines that/ });
const found = (page: Page) => page.getByRole('main').getByRole('status').first().innerText();
const searches = () => proxy.asked().filter(({ path }) => path.includes('/search?'));

browserTest('by the keyboard: from the files to the words, to a match, to its file, and back', async () => {
  const visit = await at('');
  const { page } = visit;
  await page.keyboard.press('s');
  await words(page).waitFor();
  expect(await focused(page)).toMatch(/Lines that contain/);
  await page.keyboard.type('amount');
  await page.keyboard.press('Enter');
  await expect.poll(() => found(page)).toMatch(/^2 lines in 1 file/);
  expect(new URL(page.url()).searchParams.get('q')).toBe('amount');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('j');
  expect(await focused(page)).toMatch(/^a 2.*return \{ amount, paid: true \}/);
  await page.keyboard.press('Enter');
  const row = page.getByRole('row', { selected: true });
  await row.waitFor();
  expect(await row.innerText()).toContain('return { amount, paid: true }');
  expect(new URL(page.url()).search).toMatch(/file=src(%2F|\/)pay\.ts.*L=2|L=2.*file=/);
  proxy.forget();
  await page.goBack();
  await expect.poll(() => found(page)).toMatch(/^2 lines in 1 file/);
  expect(searches()).toEqual([]);
  await page.keyboard.press('/');
  expect(await focused(page)).toMatch(/Lines that contain/);
});

browserTest('the address says all, and each part of it counts', async () => {
  const visit = await at('?q=^TOTAL|body&regex=true&ignoreCase=true&include=src/**&exclude=*.css');
  const { page } = visit;
  expect(await found(page)).toBe('0 lines in 0 files');
  expect(await textOf(page, 'main')).toMatch(/Nothing matches “\^TOTAL\|body” in the files that you chose/);
  await page.getByRole('textbox', { name: 'Not in' }).fill('');
  await page.getByRole('button', { name: 'Search', exact: true }).click();
  await expect.poll(() => found(page)).toMatch(/^1 line in 1 file/);
  await page.getByRole('button', { name: 'Match case' }).click();
  await page.getByRole('textbox', { name: 'Lines that match (RE2)' }).fill('BODY');
  await page.getByRole('button', { name: 'Search', exact: true }).click();
  await expect.poll(() => found(page)).toBe('0 lines in 0 files');
  expect(new URL(page.url()).searchParams.has('ignoreCase')).toBe(false);
});

browserTest('what is wrong is said at its field', async () => {
  const visit = await at('?q=(a&regex=true');
  visit.allows(/\/search\?.*: 400$/);
  const { page } = visit;
  await page.getByText('Nothing was searched').waitFor();
  expect(await words(page).getAttribute('aria-invalid')).toBe('true');
  expect(await faultsOfLook(visit)).toEqual([]);
  // Other words are not marked for what these were refused for.
  await words(page).fill('amount');
  expect(await words(page).getAttribute('aria-invalid')).not.toBe('true');
  await page.getByRole('textbox', { name: 'Only in' }).fill('[a');
  await words(page).press('Enter');
  await page.getByText('has a "[" without its "]"').waitFor();
  proxy.forget();
  await page.getByRole('textbox', { name: 'Only in' }).fill(Array(21).fill('a').join(', '));
  await page.getByText('At most 20, with commas between').waitFor();
  await words(page).press('Enter');
  expect(searches()).toEqual([]);
});

browserTest('the next page, what was cut, and what was not searched', async () => {
  const visit = await at('?q=needle');
  const { page } = visit;
  expect(await found(page)).toMatch(/^100 lines in 2 files so far$/);
  await page.getByText('the line goes on').waitFor();
  await page.getByRole('button', { name: 'Search on' }).click();
  await expect.poll(() => found(page)).toBe('131 lines in 2 files. Not searched: 1 binary file');
  expect(await page.getByRole('button', { name: 'Search on' }).count()).toBe(0);
  const file = page.getByRole('region', { name: 'docs/many.txt' });
  expect(await file.getByRole('link').count()).toBe(131);
  // The line of the second page stands once, with those around it.
  expect((await file.innerText()).match(/needle 198\b/g)).toHaveLength(1);
  expect(await page.locator('.code-found').first().innerText()).toBe('needle');
});

browserTest('empty pages are followed by themselves', async () => {
  const visit = await rig.visit({ base: proxy.base, state: ground.state });
  const { page } = visit;
  let asked = 0;
  // Two seconds of the service without a match take more files than a test has.
  await page.route('**/search?**', (route) => {
    asked++;
    const skipped = { binary: 1, tooLarge: 0 };
    const body = { ok: true, matches: [], hasMore: true, nextCursor: `page ${asked}`, skipped };
    if (asked <= 3) return route.fulfill({ json: body });
    const url = new URL(route.request().url());
    expect(url.searchParams.get('cursor')).toBe('page 3');
    url.searchParams.delete('cursor');
    return route.continue({ url: url.href });
  });
  await open(visit, `/console/apps/${app.id}/sources/${app.sourceId}?q=amount`);
  await expect.poll(() => found(page)).toBe('2 lines in 1 file. Not searched: 4 binary files');
  expect(asked).toBe(4);
});

browserTest('from an app’s home, from a thread and from the palette', async () => {
  const thread = await completedThread(ground.client, app);
  const visit = await visitAt(rig, `/console/apps/${app.id}`, { base: proxy.base, state: ground.state });
  const { page } = visit;
  await page.getByRole('link', { name: 'Search its files' }).click();
  await words(page).waitFor();
  await page.goto(`/console/apps/${app.id}/threads/${thread.id}?panel=files`);
  await page.getByRole('link', { name: 'Search in the files' }).click();
  await words(page).fill('toFixed');
  await words(page).press('Enter');
  await expect.poll(() => found(page)).toMatch(/^1 line in 1 file/);
  await page.keyboard.press('ControlOrMeta+k');
  await page.getByRole('searchbox', { name: /App, thread/ }).fill('search the');
  await page.getByRole('menuitem', { name: 'Search the files of this app' }).click();
  await expect.poll(() => new URL(page.url()).pathname).toContain(app.sourceId);
  await atRest(visit);
});
