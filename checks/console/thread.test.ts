/** The page of a thread: its conversation, its composer, approvals, and what is beside it. `long/` has more of it. */
import type { Client, Thread } from '@headrace/client';
import type { Page } from 'playwright-core';
import { beforeAll, expect } from 'vitest';
import { browserTest, useBrowser, sharedSite } from './rig.ts';
import type { VisitOptions } from './browser.ts';
import { completedThread, makeApp, runningThread, sh, untilThread, waitingThread } from './ground.ts';
import type { App, Site } from './ground.ts';
import { axe, focused, tabTo, tooWide, visitAt } from './page.ts';

const rig = useBrowser();
let ground: Site;
let app: App;
let completed: Thread;

beforeAll(async () => {
  ground = sharedSite();
  app = await makeApp(ground.client);
  completed = await completedThread(ground.client, app);
});

const show = (thread: Thread, options: Partial<VisitOptions> & { search?: string } = {}) => {
  const { search = '', ...rest } = options;
  return visitAt(rig, `/console/apps/${app.id}/threads/${thread.id}${search}`, {
    base: ground.base,
    state: ground.state,
    ...rest,
  });
};
const messageField = (page: Page) => page.getByRole('textbox', { name: 'Message' });
const conversation = (page: Page) => page.getByRole('feed', { name: 'Conversation' });

const newThread = async (client: Client, title: string) => {
  const { thread } = await client.threads.create(app.id, { title });
  return untilThread(client, app, thread.id, ({ status }) => status === 'ready');
};

browserTest('shows what was said, what was done and what changed', async () => {
  const { page } = await show(completed);
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
  const thread = await newThread(ground.client, 'By keyboard');
  const { page } = await show(thread);
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
    const thread = await newThread(ground.client, 'Kept');
    const visit = await show(thread);
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
    const { items } = await ground.client.messages.list(app.id, thread.id);
    expect(items.filter(({ role }) => role === 'user')).toMatchObject([
      { content: 'Words that nobody may lose.', attachments: [{ mediaType: 'text/plain', byteSize: 8 }] },
    ]);
    await page.reload();
    await conversation(page).getByText('Words that nobody may lose.').waitFor();
    expect(await messageField(page).inputValue()).toBe('');
  },
);

browserTest('an approval is the first thing seen, and is given in place', async () => {
  const thread = await waitingThread(ground.client, app);
  const { page } = await show(thread, { width: 390 });
  const waits = page.getByRole('region', { name: 'Waits for you' });
  await waits.getByText('npm publish --access public').waitFor();
  expect(await tooWide(page)).toEqual([]);
  expect(await axe(page)).toEqual([]);
  await waits.getByRole('button', { name: 'Deny' }).click();
  await waits.waitFor({ state: 'detached' });
  expect((await ground.client.approvals.list(app.id, thread.id)).items[0]?.status).toBe('denied');
});

browserTest('on a phone the tab that is shown is in view, and is the only current one', async () => {
  const { page } = await show(completed, { width: 390, search: '?panel=events' });
  const current = page.getByRole('navigation', { name: 'Parts of the thread' }).locator('[aria-current]');
  expect(await current.allInnerTexts()).toEqual(['Events']);
  const { x, width } = (await current.boundingBox())!;
  expect(x + width).toBeLessThanOrEqual(390);
});

browserTest('a run at work shows its tools, takes messages behind it, and is stopped', async () => {
  const thread = await runningThread(ground.client, app);
  const { page } = await show(thread);
  await conversation(page)
    .getByRole('button', { name: /echo measuring/ })
    .waitFor();
  await messageField(page).fill('Next');
  await page.getByText(/^Queues behind 1 run/).waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  await conversation(page).getByText('cancelled').waitFor();
  await page.getByText('Starts a run.').waitFor();
});
