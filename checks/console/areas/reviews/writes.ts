/** The writes of pull requests and their review loops. */
import type { Page } from 'playwright-core';
import { confirm, press } from '../../writes.ts';
import type { Act, Bench, Write } from '../../writes.ts';
import * as made from './ground.ts';
import type { Opened } from './ground.ts';

const field = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });
const count = (isDone: boolean) => (isDone ? 1 : 0);
const inDialog = (page: Page, name: string) =>
  page.getByRole('dialog').getByRole('button', { name, exact: true }).click();
const flip = (page: Page, name: string) => page.locator('label').filter({ hasText: name }).click();

type Make = (bench: Bench) => Promise<Opened>;
type Pull = Opened['pull'];

const CHANGE = { title: 'Water the roses' };
const plain: Make = async ({ ground: { client } }) =>
  made.openPull(client, await made.newGarden(client, 'Written'), CHANGE);

/** A write to a pull request, which it shows by being as `isDone` says. */
const write = (
  name: string,
  {
    make = plain,
    ...how
  }: Pick<Write, 'asks' | 'field'> & {
    make?: Make;
    ready?: (page: Page) => Promise<unknown>;
    press: (page: Page) => Promise<void>;
    kept?: string;
    isDone: (pull: Pull, before: Pull) => boolean;
  },
): Write => ({
  name,
  asks: how.asks,
  ...(how.field && { field: how.field }),

  async begin(bench): Promise<Act> {
    const opened = await make(bench);
    const { client } = bench.ground;
    const { page } = await bench.at(panelOf(opened));
    await how.ready?.(page);
    const kept = how.kept;
    return {
      page,
      press: () => how.press(page),
      ...(kept !== undefined && { kept: () => field(page, kept).inputValue() }),
      done: async () => count(how.isDone(await made.pullNow(client, opened), opened.pull)),
    };
  },
});

/** Started, whether or not it has looked yet. */
export const isObserving = ({ reviewLoop }: Pull): boolean =>
  reviewLoop?.status === 'observing' || reviewLoop?.status === 'waiting_checks';

export const panelOf = ({ project, threadId }: Pick<Opened, 'project' | 'threadId'>): string =>
  `/console/apps/${project.id}/threads/${threadId}?panel=pull-request`;

const of = (rest: string) => new RegExp(`/api/threads/[^/]+/pull-requests/[^/]+${rest}$`);
const patch = (rest = '') => new RegExp(`^PATCH ${of(rest).source}`);
const post = (rest: string) => new RegExp(`^POST ${of(rest).source}`);

export const WRITES: Write[] = [
  {
    name: 'open a pull request',
    asks: /^POST \/api\/threads\/[^/]+\/pull-requests$/,
    field: '/title',
    isWhole: true,
    async begin({ at, ground: { client } }) {
      const project = await made.newGarden(client, 'Written');
      const { id: threadId } = await made.changedThread(client, project, CHANGE);
      const { page } = await at(panelOf({ project, threadId }));
      await field(page, 'Title').fill('Water all roses');
      return {
        page,
        press: () => press(page, 'Open the pull request'),
        kept: () => field(page, 'Title').inputValue(),
        done: async () => (await client.pullRequests.list(threadId)).items.length,
      };
    },
  },
  write('edit a pull request', {
    asks: patch(),
    field: '/title',
    kept: 'Title',
    async ready(page) {
      await press(page, 'Edit');
      await field(page, 'Title').fill('Water all roses');
    },
    press: (page) => inDialog(page, 'Save'),
    isDone: ({ title }) => title === 'Water all roses',
  }),
  write('merge a pull request', {
    asks: post('/merge'),
    kept: 'First line of the commit',
    async ready(page) {
      await press(page, 'Merge');
      await field(page, 'First line of the commit').fill('Roses');
    },
    press: (page) => inDialog(page, 'Merge'),
    isDone: ({ state }) => state === 'merged',
  }),
  write('close a pull request', {
    asks: patch(),
    press: (page) => confirm(page, 'Close', 'Close it'),
    isDone: ({ state }) => state === 'closed',
  }),
  write('open a pull request again', {
    asks: patch(),
    make: async (bench) => {
      const opened = await plain(bench);
      const { client } = bench.ground;
      await client.pullRequests.update(opened.threadId, opened.pull.id, { state: 'closed' });
      return opened;
    },
    press: (page) => press(page, 'Open it again'),
    isDone: ({ state }) => state === 'open',
  }),
  write('switch the push off', {
    asks: patch(),
    press: (page) => flip(page, 'Push each newer change'),
    isDone: ({ autoPush }) => !autoPush,
  }),
  write('push once', {
    asks: post('/sync'),
    make: async ({ ground: { client } }) => made.behind(client, await made.newGarden(client, 'Written')),
    press: (page) => press(page, 'Sync now'),
    isDone: ({ headSha }, before) => headSha !== before.headSha,
  }),
  write('take a side', {
    asks: post('/sync'),
    make: async ({ ground: { client } }) => made.diverged(client, await made.newGarden(client, 'Written')),
    ready: (page) => press(page, 'Choose whose files count'),
    press: (page) => inDialog(page, 'Take the branch’s files'),
    isDone: ({ push }) => push.status !== 'diverged',
  }),
  write('update the branch', {
    asks: post('/update-branch'),
    ready: (page) => press(page, 'Update the branch'),
    press: (page) => inDialog(page, 'Update'),
    isDone: ({ update }) => update !== null,
  }),
  write('switch the review loop on', {
    asks: patch('/review-loop'),
    press: (page) => flip(page, 'Drive it to green'),
    isDone: ({ reviewLoop }) => reviewLoop?.enabled === true,
  }),
  write('have the loop merge', {
    asks: patch('/review-loop'),
    press: (page) => flip(page, 'Merge by itself'),
    isDone: ({ reviewLoop }) => reviewLoop?.autoMerge === true,
  }),
  write('start the loop again', {
    asks: patch('/review-loop'),
    make: async ({ ground: { client } }) =>
      made.blockedMeanwhile(client, await made.newGarden(client, 'Written')),
    press: (page) => press(page, 'Start the loop again'),
    isDone: isObserving,
  }),
];
