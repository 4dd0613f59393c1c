/** The page of a thread: its conversation, its composer, approvals, and what is beside it. `long/` has more of it. */
import type { Thread } from '@headrace/client';
import type { Page } from 'playwright-core';
import { beforeAll, expect } from 'vitest';
import { browserTest, useBrowser } from './rig.ts';
import { completedThread, runningThread, sh, waitingThread } from './ground.ts';
import { conversation, makeThreads } from './threads.ts';
import type { Threads } from './threads.ts';
import { axe, focused, tabTo, tooWide } from './page.ts';

const rig = useBrowser();
let threads: Threads;
let completed: Thread;

beforeAll(async () => {
  threads = await makeThreads(rig);
  completed = await completedThread(threads.site.client, threads.app);
});

const messageField = (page: Page) => page.getByRole('textbox', { name: 'Message' });

browserTest('shows what was said, what was done and what changed', async () => {
  const { page } = await threads.show(completed);
  await conversation(page).getByText('Show the total above the button, and round it to cents.').waitFor();
  await page.getByRole('button', { name: 'Tools' }).click();
  await conversation(page)
    .getByRole('button', { name: /sed -i/ })
    .click();
  await page.getByText('No output.').waitFor();
  await page.getByRole('link', { name: /src\/total\.ts/ }).waitFor();
  expect(await axe(page)).toEqual([]);
});

browserTest('a message is sent by the keyboard alone, and its reply comes by itself', async () => {
  const thread = await threads.make('By keyboard');
  const { page } = await threads.show(thread);
  await tabTo(page, /^textarea Message/);
  await page.keyboard.type(sh('echo hello from the run'));
  await page.getByText('Starts a run.').waitFor();
  await page.keyboard.press('Control+Enter');
  await conversation(page).getByText('hello from the run', { exact: true }).first().waitFor();
  await page.getByText('completed').first().waitFor();
  expect(await messageField(page).inputValue()).toBe('');
  expect(await focused(page)).toMatch(/^textarea Message/);
});

browserTest(
  'what is typed and attached outlives a reload and a refusal, and is gone once it is sent',
  async () => {
    const thread = await threads.make('Kept');
    const visit = await threads.show(thread);
    const { page } = visit;
    visit.allows(/messages: (503|429)/, /ERR_FAILED/);
    await messageField(page).fill('Words that nobody may lose.');
    await page.setInputFiles('input[type=file]', {
      name: 'note.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('attached'),
    });
    await page.getByText('note.txt').waitFor();
    await page.reload();
    await page.getByText('note.txt').waitFor();
    expect(await messageField(page).inputValue()).toBe('Words that nobody may lose.');
    // The service takes it, and its answer is lost: the second try has no second effect.
    let tries = 0;
    await page.route('**/messages', async (route) => {
      if (route.request().method() !== 'POST' || ++tries > 1) return route.continue();
      await route.fetch();
      await route.abort();
    });
    await page.getByRole('button', { name: /^Send/ }).click();
    await conversation(page).getByText('Words that nobody may lose.').waitFor();
    await expect.poll(() => messageField(page).inputValue()).toBe('');
    expect(await page.getByText('note.txt').count()).toBe(0);
    const { items } = await threads.site.client.messages.list(threads.app.id, thread.id);
    expect(items.filter(({ role }) => role === 'user')).toMatchObject([
      { content: 'Words that nobody may lose.', attachments: [{ mediaType: 'text/plain', byteSize: 8 }] },
    ]);
    await page.reload();
    await conversation(page).getByText('Words that nobody may lose.').waitFor();
    expect(await messageField(page).inputValue()).toBe('');
  },
);

browserTest('an approval is the first thing seen, and is given in place', async () => {
  const thread = await waitingThread(threads.site.client, threads.app);
  const { page } = await threads.show(thread, { width: 390 });
  const waits = page.getByRole('region', { name: 'Waits for you' });
  await waits.getByText('npm publish --access public').waitFor();
  expect(await tooWide(page)).toEqual([]);
  expect(await axe(page)).toEqual([]);
  await waits.getByRole('button', { name: 'Deny' }).click();
  await waits.waitFor({ state: 'detached' });
  expect((await threads.site.client.approvals.list(threads.app.id, thread.id)).items[0]?.status).toBe(
    'denied',
  );
});

browserTest('on a phone the tab that is shown is in view, and is the only current one', async () => {
  const { page } = await threads.show(completed, { width: 390, search: '?panel=events' });
  const current = page.getByRole('navigation', { name: 'Parts of the thread' }).locator('[aria-current]');
  expect(await current.allInnerTexts()).toEqual(['Events']);
  const { x, width } = (await current.boundingBox())!;
  expect(x + width).toBeLessThanOrEqual(390);
});

browserTest('a run at work shows its tools, takes messages behind it, and is stopped', async () => {
  const thread = await runningThread(threads.site.client, threads.app);
  const { page } = await threads.show(thread);
  await conversation(page)
    .getByRole('button', { name: /echo measuring/ })
    .waitFor();
  await messageField(page).fill('Next');
  await page.getByText(/^Queues behind 1 run/).waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  await conversation(page).getByText('cancelled').waitFor();
  await page.getByText('Starts a run.').waitFor();
});
