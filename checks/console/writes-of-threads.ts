/** The writes on pages of threads, in the inbox, and those of an apply. */
import type { Page } from 'playwright-core';
import {
  completedThread,
  conflictedApply,
  failedThread,
  makeApp,
  runningThread,
  sh,
  untilThread,
  waitingThread,
} from './ground.ts';
import { choose, confirm, press } from './writes.ts';
import type { Bench, Write } from './writes.ts';

const count = (isDone: boolean) => (isDone ? 1 : 0);
const field = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });

export const WRITES_OF_THREADS: Write[] = [
  {
    name: 'start a thread',
    asks: /^POST .*\/threads$/,
    field: '/message/content',
    isWhole: true,
    async begin({ at, ground: { client } }) {
      const app = await makeApp(client, 'Started');
      const { page } = await at(`/console/apps/${app.id}`);
      await press(page, 'New thread');
      await field(page, 'First message').fill('Make it blue');
      return {
        page,
        press: () => press(page, 'Start'),
        kept: () => field(page, 'First message').inputValue(),
        done: async () => (await client.threads.list(app.id)).items.length,
      };
    },
  },
  {
    name: 'send a message',
    asks: /^POST .*\/messages$/,
    field: '/content',
    async begin(bench) {
      const { page, client, app, threadId } = await shownThread(bench);
      await field(page, 'Message').fill('Make it round');
      return {
        page,
        press: () => press(page, /^Send/),
        kept: () => field(page, 'Message').inputValue(),
        done: async () => (await client.messages.list(app.id, threadId)).items.filter(isOfUser).length,
      };
    },
  },
  {
    name: 'rename a thread',
    asks: /^PATCH .*\/threads\/[^/]+$/,
    field: '/title',
    isWhole: true,
    async begin(bench) {
      const { page, client, app, threadId } = await shownThread(bench);
      await choose(page, 'Rename');
      await field(page, 'Title').fill('After');
      return {
        page,
        press: () => press(page, 'Rename'),
        kept: () => field(page, 'Title').inputValue(),
        done: async () => count((await client.threads.get(app.id, threadId)).title === 'After'),
      };
    },
  },
  {
    name: 'fork a thread',
    asks: /^POST .*\/fork$/,
    field: '/message/content',
    async begin(bench) {
      const { page, client, app, threadId } = await shownThread(bench);
      await choose(page, 'Fork');
      await field(page, 'First message').fill('Another way');
      return {
        page,
        press: () => press(page, 'Fork'),
        kept: () => field(page, 'First message').inputValue(),
        done: async () =>
          (await client.threads.list(app.id)).items.filter(
            ({ forkedFrom }) => forkedFrom?.threadId === threadId,
          ).length,
      };
    },
  },
  {
    name: 'limit what a thread spends',
    asks: /^PATCH .*\/threads\/[^/]+$/,
    field: '/expectedTitleVersion',
    async begin(bench) {
      const { page, client, app, threadId } = await shownThread(bench);
      await choose(page, 'Spend limit');
      const dollars = page.getByRole('dialog').getByRole('textbox');
      await dollars.fill('2.50');
      return {
        page,
        press: () => press(page, 'Save'),
        kept: () => dollars.inputValue(),
        done: async () => count((await client.threads.get(app.id, threadId)).spendLimitMicros === 2_500_000),
      };
    },
  },
  {
    name: 'archive a thread',
    asks: /^PATCH .*\/threads\/[^/]+$/,
    async begin(bench) {
      const { page, client, app, threadId } = await shownThread(bench);
      return {
        page,
        async press() {
          await choose(page, 'Archive');
          await page.getByRole('dialog').getByRole('button', { name: 'Archive', exact: true }).click();
        },
        done: async () => count((await client.threads.get(app.id, threadId)).archivedAt !== null),
      };
    },
  },
  {
    name: 'take a thread out of the archive',
    asks: /^PATCH .*\/threads\/[^/]+$/,
    async begin(bench) {
      const { client } = bench.ground;
      const { page, app, threadId } = await shownThread(bench, { archived: true });
      return {
        page,
        press: () => choose(page, 'Take out of the archive'),
        done: async () => count((await client.threads.get(app.id, threadId)).archivedAt === null),
      };
    },
  },
  {
    name: 'delete a thread',
    asks: /^DELETE .*\/threads\/[^/]+$/,
    async begin(bench) {
      const { page, client, app, threadId } = await shownThread(bench);
      return {
        page,
        async press() {
          await choose(page, 'Delete');
          await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
        },
        done: () =>
          client.threads.get(app.id, threadId).then(
            () => 0,
            () => 1,
          ),
      };
    },
  },
  {
    name: 'stop a run',
    asks: /^POST .*\/stop$/,
    async begin({ at, ground: { client } }) {
      const app = await makeApp(client, 'Running');
      const { id } = await runningThread(client, app);
      const { page } = await at(`/console/apps/${app.id}/threads/${id}`);
      return {
        page,
        press: () => press(page, 'Stop'),
        done: async () => count((await client.threads.get(app.id, id)).status !== 'running'),
      };
    },
  },
  {
    name: 'repeat a run',
    asks: /^POST .*\/retry$/,
    async begin({ at, ground: { client } }) {
      const app = await makeApp(client, 'Failed');
      const { id } = await failedThread(client, app);
      const { page } = await at(`/console/apps/${app.id}/threads/${id}`);
      return {
        page,
        press: () => press(page, 'Try again'),
        done: async () => (await client.runs.list(app.id, id)).items.length - 1,
      };
    },
  },
  {
    name: 'put a source into a thread',
    asks: /^POST .*\/restore$/,
    async begin({ at, ground: { client } }) {
      const app = await makeApp(client, 'Older');
      const { id } = await completedThread(client, app);
      const before = (await client.runs.list(app.id, id)).items.length;
      const { page } = await at(`/console/apps/${app.id}/sources/${app.sourceId}`);
      await press(page, 'Put into a thread');
      return {
        page,
        press: () => press(page, 'Restore the files'),
        done: async () => (await client.runs.list(app.id, id)).items.length - before,
      };
    },
  },
  {
    name: 'restore a checkpoint',
    asks: /^POST .*\/restore$/,
    async begin({ at, ground: { client } }) {
      const app = await makeApp(client, 'Restored');
      const { id } = await completedThread(client, app);
      await client.messages.send(app.id, id, { content: '```file more.txt\nmore\n```' }).done();
      const before = (await client.runs.list(app.id, id)).items.length;
      const { page } = await at(`/console/apps/${app.id}/threads/${id}`);
      return {
        page,
        press: () => confirm(page, 'Restore'),
        done: async () => (await client.runs.list(app.id, id)).items.length - before,
      };
    },
  },
  {
    name: 'answer a question in a thread',
    asks: /^POST .*\/approvals\//,
    begin: (bench) => question(bench, (app, id) => `/console/apps/${app}/threads/${id}`),
  },
  {
    name: 'answer a question in the inbox',
    asks: /^POST .*\/approvals\//,
    begin: (bench) => question(bench, () => '/console/'),
  },
  {
    name: 'run a command',
    asks: /^POST .*\/exec$/,
    async begin(bench) {
      const { page } = await shownThread(bench, {}, '?panel=terminal');
      await field(page, 'Command').fill('echo ran-it');
      return {
        page,
        press: () => press(page, 'Run'),
        kept: () => field(page, 'Command').inputValue(),
        done: () => page.getByRole('region', { name: 'Output' }).filter({ hasText: 'ran-it' }).count(),
      };
    },
  },
  {
    name: 'apply a clean draft',
    asks: /^POST .*\/apply$/,
    async begin({ at, ground: { client } }) {
      const app = await makeApp(client, 'Clean');
      const { id } = await completedThread(client, app);
      const { page } = await at(`/console/apps/${app.id}/threads/${id}/apply`);
      return {
        page,
        press: () => press(page, 'Apply'),
        done: async () => (await client.applies.list(app.id)).items.length,
      };
    },
  },
  {
    name: 'apply decisions',
    asks: /^POST .*\/apply$/,
    isWhole: true,
    async begin({ at, ground: { client } }) {
      const { app, thread, preview } = await conflictedApply(client);
      const { page } = await at(`/console/apps/${app.id}/threads/${thread.id}/apply`);
      for (const _ of preview.conflicts) {
        await page.getByRole('group', { name: 'Decision' }).getByRole('button').nth(1).waitFor();
        await page.keyboard.press('2');
        await page.keyboard.press('n');
      }
      const before = (await client.applies.list(app.id)).items.length;
      return {
        page,
        press: () => press(page, `Apply ${preview.conflicts.length} decisions`),
        kept: () => decided(page),
        done: async () => (await client.applies.list(app.id)).items.length - before,
      };
    },
  },
  {
    name: 'write a text into the draft',
    asks: /^POST .*\/edits$/,
    async begin({ at, ground: { client } }) {
      const { app, thread, preview } = await conflictedApply(client);
      const { page } = await at(`/console/apps/${app.id}/threads/${thread.id}/apply?path=src/prices.ts`);
      await press(page, 'Edit the result');
      const text = page.getByRole('textbox', { name: /Result of/ });
      await text.click();
      await page.keyboard.press('ControlOrMeta+a');
      await page.keyboard.type('my own text');
      await press(page, 'Close the editor');
      for (const _ of preview.conflicts.slice(1)) {
        await page.keyboard.press('n');
        await page.getByRole('group', { name: 'Decision' }).getByRole('button').nth(1).waitFor();
        await page.keyboard.press('2');
      }
      return {
        page,
        press: () => press(page, `Apply ${preview.conflicts.length} decisions`),
        kept: () => decided(page),
        done: async () =>
          count((await client.threads.get(app.id, thread.id)).latestSourceId !== thread.latestSourceId),
      };
    },
  },
  {
    name: 'stop a repair',
    asks: /^POST .*\/stop$/,
    async begin({ at, ground: { client } }) {
      const { app, thread, apply } = await conflictedApply(client);
      await client.apps.update(app.id, { metadata: { 'headrace.repairScript': sh('sleep 3000') } });
      const { id } = await client.applies.create(app.id, thread.id, {
        expectedSourceId: apply.draftSourceId,
        conflictResolution: 'agent',
      });
      await untilThread(client, app, thread.id, ({ status }) => status === 'running');
      const { page } = await at(`/console/apps/${app.id}/applies/${id}`);
      return {
        page,
        press: () => press(page, 'Stop the repair'),
        done: async () => count((await client.applies.get(app.id, id)).status !== 'queued'),
      };
    },
  },
  {
    name: 'leave conflicts to the agent',
    asks: /^POST .*\/apply$/,
    async begin({ at, ground: { client } }) {
      const { app, thread } = await conflictedApply(client);
      const { page } = await at(`/console/apps/${app.id}/threads/${thread.id}/apply`);
      const before = (await client.applies.list(app.id)).items.length;
      return {
        page,
        async press() {
          await press(page, /^Ask the agent instead/);
          await page.getByRole('dialog').getByRole('button', { name: 'Ask the agent', exact: true }).click();
        },
        done: async () => (await client.applies.list(app.id)).items.length - before,
      };
    },
  },
];

const decided = (page: Page) =>
  page
    .getByText(/\d+ of \d+ decided/)
    .first()
    .innerText();

const isOfUser = ({ role }: { role: string }) => role === 'user';

async function shownThread({ at, ground: { client } }: Bench, change = {}, search = '') {
  const app = await makeApp(client, 'One thread');
  const { thread } = await client.threads.create(app.id, { title: 'Before' });
  await untilThread(client, app, thread.id, ({ status }) => status === 'ready');
  if (Object.keys(change).length > 0) await client.threads.update(app.id, thread.id, change);
  const { page } = await at(`/console/apps/${app.id}/threads/${thread.id}${search}`);
  return { page, client, app, threadId: thread.id };
}

/** A run that asks; the inbox has one question at a time. */
async function question({ at, ground: { client } }: Bench, pathOf: (appId: string, id: string) => string) {
  const app = await makeApp(client, 'Asked');
  const { id } = await waitingThread(client, app);
  const { page } = await at(pathOf(app.id, id));
  return {
    page,
    press: () => press(page, 'Approve'),
    done: async () =>
      (await client.approvals.list(app.id, id)).items.filter(({ status }) => status === 'approved').length,
  };
}
