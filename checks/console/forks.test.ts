/** Forks: made from a thread and from a checkpoint, with what was said before, and where they come from. */
import type { Thread } from '@headrace/client';
import { beforeAll, expect } from 'vitest';
import { completedThread, forkOf, makeApp, sh, untilThread } from './ground.ts';
import { atRest, axe, tabTo, tooWide, visitAt } from './page.ts';
import { browserTest, useBrowser } from './rig.ts';
import { conversation, makeThreads } from './threads.ts';
import type { Threads } from './threads.ts';
import { press } from './writes.ts';

const ASKED = 'Show the total above the button, and round it to cents.';

const rig = useBrowser();
let threads: Threads;
let parent: Thread;

beforeAll(async () => {
  threads = await makeThreads(rig);
  parent = await completedThread(threads.site.client, threads.app);
});

const forks = async (of: Thread) =>
  (await threads.site.client.threads.list(threads.app.id)).items.filter(
    ({ forkedFrom }) => forkedFrom?.threadId === of.id,
  );

browserTest(
  'by the keyboard, with a first message, a model and a limit, and without what was said',
  async () => {
    const { page } = await threads.show(parent);
    await tabTo(page, /More about this thread/);
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: 'Fork' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Fork the thread' });
    await dialog.waitFor();
    expect(await axe(page)).toEqual([]);
    await page.keyboard.type(sh('echo in the fork'));
    await tabTo(page, /Title/);
    await page.keyboard.type('Other way');
    await tabTo(page, /knows what was said/);
    await page.keyboard.press('Space');
    await tabTo(page, /Spend limit/);
    await page.keyboard.type('2,50');
    await dialog.getByText('This is no amount: write 2.50').waitFor();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('2.50');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: /Other way/, level: 1 }).waitFor();
    await conversation(page).getByText('in the fork', { exact: true }).first().waitFor();
    expect(await page.getByRole('button', { name: /^From / }).count()).toBe(0);
    expect(await forks(parent)).toMatchObject([
      { title: 'Other way', spendLimitMicros: 2_500_000, modelId: parent.modelId },
    ]);
    await page.getByRole('link', { name: /^forked from / }).click();
    await conversation(page).getByText(ASKED).waitFor();
  },
);

browserTest('from a checkpoint, whose files it has', async () => {
  const thread = await completedThread(threads.site.client, threads.app);
  const [checkpoint] = (await threads.site.client.checkpoints.list(threads.app.id, thread.id)).items;
  const { page } = await threads.show(thread);
  await press(page, 'Fork from here');
  await page.getByRole('dialog', { name: 'Fork from this checkpoint' }).waitFor();
  await press(page, 'Fork');
  await page.getByRole('link', { name: /^forked from / }).waitFor();
  expect((await forks(thread)).map(({ forkedFrom }) => forkedFrom)).toEqual([
    { threadId: thread.id, checkpointId: checkpoint!.id, sourceId: checkpoint!.sourceId },
  ]);
});

browserTest('what was said before is folded, without tools, and goes with its thread', async () => {
  const { client } = threads.site;
  const before = await completedThread(client, threads.app);
  const fork = await forkOf(client, threads.app, before.id);
  const visit = await threads.show(fork, { width: 390 });
  visit.allows(/threads\/[^/]+: 404$/);
  const { page } = visit;
  const line = page.getByRole('button', { name: /^From / });
  await line.waitFor();
  expect(await conversation(page).getByText(ASKED).count()).toBe(0);
  const tools = await page.getByRole('button', { name: 'Tools' }).count();
  await line.focus();
  await page.keyboard.press('Enter');
  await conversation(page).getByText(ASKED).waitFor();
  expect(await line.getAttribute('aria-expanded')).toBe('true');
  expect(await page.getByRole('button', { name: 'Tools' }).count()).toBe(tools);
  expect(await tooWide(page)).toEqual([]);
  expect(await axe(page)).toEqual([]);
  await client.threads.delete(threads.app.id, before.id);
  await page.reload();
  await atRest(visit);
  await page.getByText('forked from a thread that is deleted').waitFor();
  expect(await line.count()).toBe(0);
});

browserTest('a long conversation of the parent is read upwards once it is unfolded', async () => {
  const { client } = threads.site;
  const long = await threads.make('Long');
  for (const word of ['First', 'Second', 'Third']) {
    const { run } = await client.messages.send(threads.app.id, long.id, { content: `${word} word` });
    await untilThread(
      client,
      threads.app,
      long.id,
      ({ status, latestRunId }) => latestRunId === run.id && status === 'ready',
    );
  }
  const { thread: fork } = await client.threads.fork(threads.app.id, long.id, { title: 'Long fork' });
  const visit = await threads.show(long);
  const { page } = visit;
  let asked = 0;
  // Pages of two messages.
  await page.route('**/messages?*', (route) => {
    asked++;
    return route.continue({
      url: route
        .request()
        .url()
        .replace(/limit=\d+/, 'limit=2'),
    });
  });
  await page.goto(`/console/apps/${threads.app.id}/threads/${fork.id}`);
  await atRest(visit);
  expect(asked).toBe(1);
  await page.getByRole('button', { name: 'From Long' }).click();
  await conversation(page).getByText('First word', { exact: true }).waitFor();
  await page.getByText('6 messages above, without tools').waitFor();
  expect(asked).toBe(3);
});

browserTest('as trees: with archived threads, read on page by page, narrowed to families', async () => {
  const { client } = threads.site;
  const app = await makeApp(client, 'Families');
  const made = async (title: string) => (await client.threads.create(app.id, { title })).thread;
  const first = await made('First of all');
  await untilThread(client, app, first.id, ({ status }) => status === 'ready');
  await client.threads.fork(app.id, first.id, { title: 'Goes on' });
  await client.threads.update(app.id, first.id, { archived: true });
  for (const title of ['One alone', 'Two alone', 'Three alone']) await made(title);
  const visit = await visitAt(rig, `/console/apps/${app.id}`, threads.site);
  const { page } = visit;
  // Pages of two threads.
  await page.route('**/threads?*', (route) =>
    route.continue({
      url: route
        .request()
        .url()
        .replace(/limit=\d+/, 'limit=2'),
    }),
  );
  await page.goto(`/console/apps/${app.id}?show=forks`);
  const older = page.getByRole('button', { name: 'Read older ones' });
  await page.getByText('None of the threads that were read is a fork.').waitFor();
  await older.click();
  await page.getByText('fork of a thread that is not here').waitFor();
  await older.click();
  await page.getByRole('list', { name: 'Forks of First of all' }).getByText('Goes on').waitFor();
  await older.waitFor({ state: 'detached' });
  expect(await page.getByText('fork of a thread that is not here').count()).toBe(0);
  await page.getByLabel('Find threads by title').fill('alone');
  await page.getByText('No fork is like that').waitFor();
  await page.getByLabel('Find threads by title').fill('goes');
  await page.getByRole('list', { name: 'Forks of First of all' }).waitFor();
  visit.allows(/: 500$/);
  await page.unroute('**/threads?*');
  await page.route('**/threads?*', (route) =>
    route.fulfill({ status: 500, json: { ok: false, error: { code: 'internal_error', message: 'No.' } } }),
  );
  await page.goto(`/console/apps/${app.id}?show=forks`);
  await page.getByRole('alert').first().waitFor();
  expect(await page.getByText('No forks').count()).toBe(0);
});

browserTest('is marked where threads are listed', async () => {
  const visit = await threads.show(parent);
  const { page } = visit;
  await page.goto(`/console/apps/${threads.app.id}`);
  await atRest(visit);
  const row = page.getByRole('listitem').filter({ hasText: 'Other way' });
  await row.getByText('fork', { exact: true }).waitFor();
});
