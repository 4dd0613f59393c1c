/** What a newcomer does, from the sign-in to a preview, by the pages alone. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { startGround } from './ground.ts';
import type { Ground } from './ground.ts';
import { signInByHand } from './page.ts';
import { browserTest, useBrowser } from './rig.ts';

const rig = useBrowser();
let ground: Ground;
beforeAll(async () => {
  ground = await startGround();
}, 60_000);
afterAll(() => ground?.stop());

const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first().click();

/** Files as they come from a file manager. */
async function drop(page: Page, files: Record<string, string>): Promise<void> {
  const dropped = await page.evaluateHandle(
    `(() => {
      const dropped = new DataTransfer();
      for (const [name, text] of Object.entries(${JSON.stringify(files)})) dropped.items.add(new File([text], name));
      return dropped;
    })()`,
  );
  const zone = page.getByText('Drop a folder here');
  for (const type of ['dragenter', 'dragover', 'drop'])
    await zone.dispatchEvent(type, { dataTransfer: dropped });
}

/** A thread whose agent does this; shown when its run has ended. */
async function startThread(page: Page, message: string): Promise<string> {
  await press(page, 'New thread');
  await page.getByLabel('First message').fill(message);
  await page.getByLabel('First message').press('ControlOrMeta+Enter');
  await page.waitForURL(/\/threads\/thr_/);
  await page.getByText('completed').first().waitFor();
  return page.url();
}

browserTest(
  'sign-in, import, threads, an apply, a conflict resolved by hand, a build, a preview',
  { timeout: 120_000 },
  async () => {
    const visit = await rig.visit({ base: ground.base });
    // A preview that does not listen yet; a read of the draft that the edit has just replaced.
    visit.allows(/: 503$/, /apply\/preview.*: 409$/);
    const { page } = visit;
    await signInByHand(visit, '/console/apps');
    await press(page, 'Create the first app');
    await page.getByLabel('Name', { exact: true }).fill('Corner shop');
    await page.keyboard.press('Enter');
    await page.getByText('Drop a folder here').waitFor();
    const appId = /prj_[0-9a-z]+/.exec(page.url())![0];
    await drop(page, { 'index.html': '<h1>Shop</h1>\n', 'prices.txt': 'bread 1\nmilk 2\n' });
    await page.getByText('2 files').first().waitFor();
    await press(page, /^Import$/);
    await page.getByText('Imported. The app has its first head.').waitFor();

    const first = await startThread(page, '```sh\nsed -i "s/bread 1/bread 3/" prices.txt\n```');
    await page.goto(`/console/apps/${appId}`);
    const second = await startThread(page, '```sh\nsed -i "s/bread 1/bread 4/" prices.txt\n```');
    await page.goto(`${first}/apply`);
    await press(page, /^Apply$/);
    await page.getByText('as revision 2').waitFor();

    await page.goto(`${second}/apply`);
    await page.getByRole('group', { name: 'Decision' }).getByRole('button').nth(3).waitFor();
    await page.keyboard.press('e');
    const editor = page.getByRole('textbox', { name: /Result of prices\.txt/ });
    await editor.click();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('bread 5\nmilk 2\n');
    await press(page, 'Close the editor');
    await press(page, /^Apply 1 decision/);
    await page.getByText('as revision 3').waitFor();
    const { client } = ground;
    const { headSourceId, headRevision } = await client.apps.get(appId);
    expect(headRevision).toBe(3);
    const prices = await client.sources.file(appId, headSourceId!, { path: 'prices.txt' });
    expect(prices.content).toBe('bread 5\nmilk 2\n');

    await page.goto(`${second}?panel=builds`);
    await press(page, /^Build$/);
    await page
      .getByLabel('Command', { exact: true })
      .fill('mkdir out && cp index.html out/ && echo built it');
    await page.getByLabel('Output directory').fill('out');
    await page.getByLabel('Output directory').press('Enter');
    await page.waitForURL(/\/builds\/bld_/);
    const log = page.getByRole('list', { name: 'Log' }).getByRole('listitem');
    await log.filter({ hasText: /built it$/ }).waitFor();
    await page.getByText('ready').first().waitFor();

    await page.goto(`${second}?panel=preview`);
    await press(page, 'Start a preview');
    await page
      .getByLabel('Command', { exact: true })
      .fill(`node -e "require('http').createServer((q,r)=>r.end('<h1>The shop is open</h1>')).listen(3000)"`);
    await page.getByLabel('Port').fill('3000');
    await page.getByLabel('Port').press('Enter');
    await page.frameLocator('iframe').getByText('The shop is open').waitFor();
  },
);
