/** The longer flows by the keyboard alone. */
import { beforeAll, expect } from 'vitest';
import { KINDS } from '../conflicts.ts';
import { completedThread, conflictedApply, makeApp } from '../ground.ts';
import type { Site } from '../ground.ts';
import { focused, open, tabTo, visitAt } from '../page.ts';
import { browserTest, sharedSite, useBrowser } from '../rig.ts';

const rig = useBrowser();
let ground: Site;
beforeAll(() => {
  ground = sharedSite();
});

const options = () => ({ base: ground.base, state: ground.state });

browserTest('a message, and the change that comes of it', async () => {
  const app = await makeApp(ground.client);
  const thread = await completedThread(ground.client, app);
  const visit = await visitAt(rig, `/console/apps/${app.id}/threads/${thread.id}`, options());
  const { page } = visit;
  await page.keyboard.press('c');
  expect(await focused(page)).toMatch(/Message/);
  await page.keyboard.type('One more file.\n\n```file more.txt\nmore\n```');
  await page.keyboard.press('ControlOrMeta+Enter');
  await page.getByText('Wrote more.txt').first().waitFor();
  await page
    .getByRole('link', { name: /more\.txt/ })
    .or(page.getByText('more.txt', { exact: true }))
    .first()
    .waitFor();
});

browserTest('conflicts of all seven kinds, decided and applied', { timeout: 90_000 }, async () => {
  const conflict = await conflictedApply(ground.client);
  const visit = await rig.visit(options());
  await open(visit, `/console/apps/${conflict.app.id}/threads/${conflict.thread.id}/apply`);
  const { page } = visit;
  const decided = () =>
    page
      .getByText(/\d+ of \d+ decided/)
      .first()
      .innerText();
  const count = conflict.preview.conflicts.length;
  expect(new Set(conflict.preview.conflicts.map(({ kind }) => kind)).size).toBe(KINDS.length);
  for (;;) {
    const before = await decided();
    if (before.startsWith(`${count} of`)) break;
    await page.getByRole('group', { name: 'Decision' }).getByRole('button').nth(1).waitFor();
    await page.keyboard.press('2');
    await expect.poll(decided, { message: `after ${before} at ${page.url()}` }).not.toBe(before);
    await page.keyboard.press('n');
  }
  expect(await decided()).toBe(`${count} of ${count} decided`);
  await tabTo(page, new RegExp(`^button Apply ${count} decisions`));
  await page.keyboard.press('Enter');
  await expect
    .poll(
      async () =>
        (await ground.client.applies.list(conflict.app.id, { threadId: conflict.thread.id })).items[0]
          ?.status,
      { timeout: 20_000 },
    )
    .toBe('applied');
});
