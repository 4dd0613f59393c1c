/** Decisions on three conflicts, ready to be sent, and what has become of them. */
import type { Client } from '@headrace/client';
import { expect } from 'vitest';
import { OWNER } from '../harness/service.ts';
import type { Page } from 'playwright-core';
import type { Visit } from './browser.ts';
import { diverged } from './ground.ts';
import type { Diverged } from './ground.ts';
import { open } from './page.ts';
import type { Asked, Fault, Proxy } from './proxy.ts';

const all = (content: string) => ['a.txt', 'b.txt', 'c.txt'].map((path) => ({ path, content }));

/** The text at `a.txt`, of neither side. */
export const OWN = 'my own text';

export const threeConflicts = (client: Client): Promise<Diverged> =>
  diverged(client, 'Three conflicts', { base: all('base\n'), draft: all('draft\n'), head: all('head\n') });

export const pageOf = ({ app, threadId }: Diverged): string =>
  `/console/apps/${app.id}/threads/${threadId}/apply`;

/** By keys: a text of one's own, then the head's file, then the draft's. */
export async function decideAll(visit: Visit, made: Diverged): Promise<void> {
  // A read of a file that meets the edit is refused: it asks for the draft before it.
  visit.allows(/\/apply\/preview\/file: 409$/);
  await open(visit, `${pageOf(made)}?path=a.txt`);
  const { page } = visit;
  await page.getByRole('button', { name: 'Edit the result' }).waitFor();
  await page.keyboard.press('e');
  await page.getByRole('textbox', { name: /Result of/ }).click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type(OWN);
  await page.getByRole('button', { name: 'Close the editor' }).click();
  await page.getByText('1 of 3 decided').waitFor();
  await decideRest(page, 1);
}

const heading = (page: Page, name: string) =>
  page.getByRole('article').getByRole('heading', { name }).waitFor();

async function decideRest(page: Page, decided: number): Promise<void> {
  for (const [i, [path, key]] of [['b.txt', '1'] as const, ['c.txt', '2'] as const].entries()) {
    await page.keyboard.press('n');
    await heading(page, path);
    await page.keyboard.press(key);
    await page.getByText(`${decided + i + 1} of 3 decided`).waitFor();
  }
}

export const press = (page: Page): Promise<void> =>
  page.getByRole('button', { name: 'Apply 3 decisions' }).click();

export const isEdit = ({ method, path }: Asked): boolean => method === 'POST' && path.endsWith('/edits');
export const isApply = ({ method, path }: Asked): boolean => method === 'POST' && path.endsWith('/apply');

/** The page says that it is applied; the service has done it once, with each decision. */
export async function expectApplied(client: Client, page: Page, made: Diverged): Promise<void> {
  await page.getByText('as revision 3').waitFor();
  const { headSourceId, headRevision } = await client.apps.get(made.app.id);
  expect(headRevision).toBe(3);
  const contentAt = async (path: string) =>
    (await client.sources.file(made.app.id, headSourceId!, { path })).content;
  expect(await Promise.all(['a.txt', 'b.txt', 'c.txt'].map(contentAt))).toEqual([OWN, 'head\n', 'draft\n']);
  const applies = await client.applies.list(made.app.id, { threadId: made.threadId });
  expect(applies.items.map(({ status }) => status)).toEqual(['applied']);
  // The edit is done once, too: the draft before it, and with it.
  const sources = await client.sources.list(made.app.id);
  expect(sources.items.filter(({ origin }) => origin === 'edit').length).toBe(3);
}

/** Nothing is applied, and each decision is still there. */
export async function expectKept(client: Client, page: Page, made: Diverged): Promise<void> {
  await page.getByText('3 of 3 decided').waitFor();
  expect((await client.applies.list(made.app.id, { threadId: made.threadId })).items).toEqual([]);
}

/** The keys of all writes of a kind. */
export function keysOf(visit: Visit, ending: '/apply' | '/edits'): Set<string> {
  const keys = new Set<string>();
  visit.context.on('request', (request) => {
    if (request.method() === 'POST' && new URL(request.url()).pathname.endsWith(ending))
      keys.add(request.headers()['idempotency-key']!);
  });
  return keys;
}

/** The first request of this kind has this fault. */
export function once(proxy: Proxy, is: (asked: Asked) => boolean, fault: Fault): void {
  let isOver = false;
  proxy.plan((asked) => {
    if (isOver || !is(asked)) return null;
    isOver = true;
    return fault;
  });
}

/** The session ends at the first request of a kind; after the sign-in over the page it goes on, under its key. */
export async function expectGoesOnSignedIn({
  client,
  visit,
  proxy,
  made,
  is,
  afterwards,
}: SignedOut): Promise<void> {
  const { page } = visit;
  visit.allows(/: 401$/);
  await decideAll(visit, made);
  const keys = keysOf(visit, is === isEdit ? '/edits' : '/apply');
  once(proxy, is, { kind: 'answer', status: 401, code: 'unauthorized' });
  await press(page);
  const dialog = page.getByRole('dialog', { name: 'Sign in to go on' });
  await dialog.getByLabel('Password').fill(OWNER.password);
  expect((await client.applies.list(made.app.id, { threadId: made.threadId })).items).toEqual([]);
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await afterwards?.();
  await expectApplied(client, page, made);
  expect(keys.size).toBe(1);
}

interface SignedOut {
  client: Client;
  visit: Visit;
  proxy: Proxy;
  made: Diverged;
  is: (asked: Asked) => boolean;
  /** After the sign-in. */
  afterwards?: () => Promise<void>;
}
