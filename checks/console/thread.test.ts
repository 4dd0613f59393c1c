/** The page of a thread: its conversation, its composer, approvals, and what is beside it. */
import type { Client, Thread } from '@headrace/client';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { browserTest, useBrowser } from './rig.ts';
import type { VisitOptions } from './browser.ts';
import {
  completedThread,
  makeApp,
  runningThread,
  sh,
  startGround,
  untilThread,
  waitingThread,
} from './ground.ts';
import type { App, Ground } from './ground.ts';
import { axe, focused, tabTo, tooWide, visitAt } from './page.ts';

const rig = useBrowser();
let ground: Ground;
let app: App;
let completed: Thread;

beforeAll(async () => {
  ground = await startGround();
  app = await makeApp(ground.client);
  completed = await completedThread(ground.client, app);
});
afterAll(() => ground?.stop());

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

browserTest(
  'opens at its end, goes back to its first message without a jump, and follows only a reader at the end',
  async () => {
    const { client } = ground;
    const thread = await newThread(client, 'Long');
    const send = (content: string) => client.messages.send(app.id, thread.id, { content });
    for (let i = 1; i <= 30; i++) await send(`Message ${i}. ${'And some more words. '.repeat((i * 7) % 23)}`);
    await untilThread(client, app, thread.id, ({ status }) => status === 'ready');
    const { page } = await show(thread);
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
  const { client } = ground;
  const thread = await newThread(client, 'Archived');
  await client.threads.update(app.id, thread.id, { archived: true });
  const { page } = await show(thread);
  await page.getByText('The thread is archived. Take it out of the archive to go on.').waitFor();
  await page.getByRole('button', { name: 'More about this thread' }).click();
  await page.getByRole('menuitem', { name: 'Take out of the archive' }).click();
  await page.getByText('Starts a run.').waitFor();
});

browserTest('a command runs in the workspace, and its change is seen', async () => {
  const thread = await newThread(ground.client, 'Terminal');
  const { page } = await show(thread, { search: '?panel=terminal', width: 390 });
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
  const visit = await rig.visit({ base: ground.base, state: ground.state });
  visit.allows(/: 404/);
  await visit.page.goto(`/console/apps/${app.id}/threads/thr_01k9x3v5e8f7arh2m4t6w8y0zb`);
  await visit.page.getByText('It does not exist, or you may not see it.').waitFor();
});
