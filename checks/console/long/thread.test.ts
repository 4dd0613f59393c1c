/** More of a thread's page. */
import type { Page } from 'playwright-core';
import { beforeAll, expect } from 'vitest';
import { untilThread } from '../ground.ts';
import { conversation, makeThreads } from '../threads.ts';
import type { Threads } from '../threads.ts';
import { tooWide } from '../page.ts';
import { browserTest, useBrowser } from '../rig.ts';

const rig = useBrowser();
let threads: Threads;

beforeAll(async () => {
  threads = await makeThreads(rig);
});

browserTest(
  'opens at its end, goes back to its first message without a jump, and follows only a reader at the end',
  async () => {
    const { client } = threads.site;
    const thread = await threads.make('Long');
    const send = (content: string) => client.messages.send(threads.app.id, thread.id, { content });
    for (let i = 1; i <= 30; i++) await send(`Message ${i}. ${'And some more words. '.repeat((i * 7) % 23)}`);
    await untilThread(client, threads.app, thread.id, ({ status }) => status === 'ready');
    const { page } = await threads.show(thread);
    await expect.poll(() => fromEnd(page)).toBeLessThanOrEqual(1);
    await conversation(page).hover();
    let worst = 0;
    for (let i = 0; i < 300 && !(await isAtStart(page)); i++)
      worst = Math.max(worst, await jumpOf(page, 400));
    expect(worst).toBeLessThanOrEqual(2);
    await conversation(page)
      .getByText(/^Message 1\./)
      .waitFor();
    await send('The newest message');
    await page.getByRole('button', { name: 'New messages' }).click();
    await conversation(page).getByText('The newest message').waitFor();
    await expect.poll(() => fromEnd(page)).toBeLessThanOrEqual(1);
    await send('And one more');
    await conversation(page).getByText('And one more').waitFor();
    await expect.poll(() => fromEnd(page)).toBeLessThanOrEqual(1);
  },
  90_000,
);

const FEED = `const feed = document.querySelector('[role=feed]');`;
const fromEnd = (page: Page) =>
  page.evaluate<number>(
    `(() => { ${FEED} return feed.scrollHeight - feed.clientHeight - feed.scrollTop; })()`,
  );
const isAtStart = (page: Page) =>
  page.evaluate<boolean>(
    `(() => { ${FEED} return feed.scrollTop === 0 && feed.getAttribute('aria-busy') !== 'true' &&
      feed.querySelector('article[aria-setsize="-1"]') === null; })()`,
  );

/** Scrolls up. How far the row at the top then is from where it should be, in the worst of the next frames. */
const jumpOf = (page: Page, by: number) =>
  page.evaluate<number>(`(async () => {
    ${FEED}
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const box = feed.getBoundingClientRect();
    const row = document.elementFromPoint(box.left + 200, box.top + 8)?.closest('article');
    if (!row || feed.scrollTop < ${by}) {
      feed.scrollTop = 0;
      for (let i = 0; i < 8; i++) await frame();
      return 0;
    }
    const expected = row.getBoundingClientRect().top + ${by};
    feed.scrollTop -= ${by};
    let worst = 0;
    for (let i = 0; i < 8; i++) {
      await frame();
      if (row.isConnected) worst = Math.max(worst, Math.abs(row.getBoundingClientRect().top - expected));
    }
    return worst;
  })()`);

browserTest('an archived thread says why it takes no message', async () => {
  const { client } = threads.site;
  const thread = await threads.make('Archived');
  await client.threads.update(threads.app.id, thread.id, { archived: true });
  const { page } = await threads.show(thread);
  await page.getByText('The thread is archived. Take it out of the archive to go on.').waitFor();
  await page.getByRole('button', { name: 'More about this thread' }).click();
  await page.getByRole('menuitem', { name: 'Take out of the archive' }).click();
  await page.getByText('Starts a run.').waitFor();
});

browserTest('a command runs in the workspace, and its change is seen', async () => {
  const thread = await threads.make('Terminal');
  const { page } = await threads.show(thread, { search: '?panel=terminal', width: 390 });
  await page
    .getByRole('textbox', { name: 'Command' })
    .fill('echo from the terminal > made.txt; cat made.txt; exit 3');
  await page.keyboard.press('Enter');
  await page.getByText('exit code 3').waitFor();
  await page.getByText('from the terminal', { exact: true }).waitFor();
  await page.getByRole('link', { name: 'Changes', exact: true }).click();
  await page.getByRole('link', { name: /made\.txt/ }).waitFor();
  expect(await tooWide(page)).toEqual([]);
});

browserTest('a thread that is not there says so', async () => {
  const visit = await rig.visit({ base: threads.site.base, state: threads.site.state });
  visit.allows(/: 404/);
  await visit.page.goto(`/console/apps/${threads.app.id}/threads/thr_01k9x3v5e8f7arh2m4t6w8y0zb`);
  await visit.page.getByText('It does not exist, or you may not see it.').waitFor();
});
